# SPDX-License-Identifier: Apache-2.0
"""Client and worker for 'reprise serve'. Needs nothing but Python's standard library."""
from .client import Client, Enqueued, Job, Problem, Unanswered
from .webhooks import InvalidSignature, verify
from .worker import JobError, Run, Snooze, StepFailed, Worker

__all__ = [
    "Client",
    "Enqueued",
    "InvalidSignature",
    "Job",
    "JobError",
    "Problem",
    "Run",
    "Snooze",
    "StepFailed",
    "Unanswered",
    "Worker",
    "verify",
]
