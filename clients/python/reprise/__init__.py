# SPDX-License-Identifier: Apache-2.0
"""Client and worker for 'reprise serve'. Needs nothing but Python's standard library."""
from .client import Client, Enqueued, Job, Problem, Unanswered
from .webhooks import InvalidSignature, verify
from .worker import Cancel, JobError, JoinFailed, Run, Snooze, StepFailed, Worker

__all__ = [
    "Cancel",
    "Client",
    "Enqueued",
    "InvalidSignature",
    "Job",
    "JobError",
    "JoinFailed",
    "Problem",
    "Run",
    "Snooze",
    "StepFailed",
    "Unanswered",
    "Worker",
    "verify",
]
