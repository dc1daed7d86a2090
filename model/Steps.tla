------------------------------------ MODULE Steps ------------------------------------
(* The steps of one job: how they are stored under a lease, how a run suspends itself, and how an event wakes the job.
   The handler does work 1, waits for an event in step 2, and does work 3, which runs at most once.

   Names on the right of a comment are those of the Java code. Bug names a mistake that breaks one of the properties. *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Workers,
    Lapses, Crashes, Silences,   \* how often a lease expires too early, a process dies, a call is not answered
    Bug

Work == 1
Await == 2
Once == 3
Names == {Work, Await, Once}

VARIABLES
    state,    \* of the job: DUE, RUNNING, WAITING for the event, ENDED or UNKNOWN (a dead letter of unknown outcome)
    token,    \* the last token that was given
    holder,   \* the live token; 0 if there is none
    row,      \* of each step: NONE, OPEN, STARTED or DONE
    by,       \* of each step: the token that wrote its end; 0 for an event
    told,     \* how far the caller is who tells the event: NO, HALF (only with a bug) or YES
    run,      \* of each worker: what it knows of its run
    effects,  \* of each step: how often its work was done
    repeats,  \* steps whose work was done although the run began after their end
    zombies,  \* steps that were written under a token that was not live
    left      \* faults that may still happen

vars == <<state, token, holder, row, by, told, run, effects, repeats, zombies, left>>

None == [token |-> 0, at |-> 0, phase |-> "none", known |-> {}, started |-> FALSE, before |-> {}]

Spend(fault) == left[fault] > 0 /\ left' = [left EXCEPT ![fault] = @ - 1]

Done == {s \in Names : row[s] = "DONE"}

--------------------------------------------------------------------------------------
(* Workers. *)

Claim(w) ==
    /\ state = "DUE" /\ run[w] = None
    /\ token' = token + 1
    /\ holder' = token + 1
    /\ state' = "RUNNING"
    /\ run' = [run EXCEPT ![w] = [None EXCEPT !.token = token + 1, !.at = 1, !.phase = "read", !.before = Done]]
    /\ UNCHANGED <<row, by, told, effects, repeats, zombies, left>>

(* StepBook.enter, JobStore.steps: all steps, once in a run. *)
Read(w) ==
    /\ run[w].phase = "read"
    /\ run' = [run EXCEPT ![w].phase = "next",
                          ![w].known = IF Bug = "steps read from a copy" THEN {} ELSE Done,
                          ![w].started = row[Once] = "STARTED"]
    /\ UNCHANGED <<state, token, holder, row, by, told, effects, repeats, zombies, left>>

Next(w) == [run EXCEPT ![w].at = @ + 1, ![w].phase = "next"]
Gone(w) == [run EXCEPT ![w] = None]

Skip(w) ==
    /\ run[w].phase = "next" /\ run[w].at \in run[w].known
    /\ run' = Next(w)
    /\ UNCHANGED <<state, token, holder, row, by, told, effects, repeats, zombies, left>>

IsNext(w, s) == run[w].phase = "next" /\ run[w].at = s /\ s \notin run[w].known

Do(w, s) ==
    /\ effects' = [effects EXCEPT ![s] = @ + 1]
    /\ repeats' = IF s \in run[w].before THEN repeats \union {s} ELSE repeats
    /\ run' = [run EXCEPT ![w].phase = "worked"]
    /\ UNCHANGED <<state, token, holder, row, by, told, zombies, left>>

(* StepBook.step: the work of the handler. *)
DoWork(w) == IsNext(w, Work) /\ Do(w, Work)

Live(w) == holder = run[w].token /\ state = "RUNNING"

(* JobStore.checkpoint: the fence is in the statement that writes. The same row under the same token is success. *)
Accepts(w) == Live(w) \/ Bug = "checkpoint without fence"

Write(w, s, value) ==
    /\ row' = [row EXCEPT ![s] = value]
    /\ by' = [by EXCEPT ![s] = run[w].token]
    /\ zombies' = IF Live(w) THEN zombies ELSE zombies \union {s}

IsOwn(w, s, value) == row[s] = value /\ by[s] = run[w].token

Checkpoint(w, s) ==
    /\ run[w].phase = "worked" /\ run[w].at = s
    /\ IF Accepts(w) /\ (row[s] # "DONE" \/ IsOwn(w, s, "DONE"))
       THEN Write(w, s, "DONE") /\ run' = Next(w)
       ELSE run' = Gone(w) /\ UNCHANGED <<row, by, zombies>>
    /\ UNCHANGED <<state, token, holder, told, effects, repeats, left>>

\* The call was not answered. It was written or not, and the run writes it again.
CheckpointUnanswered(w, s) ==
    /\ run[w].phase = "worked" /\ run[w].at = s
    /\ Accepts(w) /\ row[s] # "DONE"
    /\ Write(w, s, "DONE") /\ Spend("silences")
    /\ UNCHANGED <<state, token, holder, told, run, effects, repeats>>

(* Step.atMostOnce: the start is stored first. A run that finds a start does not run the step. *)
Start(w) ==
    /\ IsNext(w, Once) /\ ~run[w].started
    /\ Bug # "work before its start is stored"
    /\ IF Accepts(w) /\ (row[Once] = "NONE" \/ IsOwn(w, Once, "STARTED"))
       THEN Write(w, Once, "STARTED") /\ run' = [run EXCEPT ![w].phase = "started"]
       ELSE run' = Gone(w) /\ UNCHANGED <<row, by, zombies>>
    /\ UNCHANGED <<state, token, holder, told, effects, repeats, left>>

DoOnce(w) ==
    /\ \/ run[w].phase = "started" /\ run[w].at = Once
       \/ Bug = "work before its start is stored" /\ IsNext(w, Once) /\ ~run[w].started
    /\ Do(w, Once)

Settled(w) == holder' = IF Live(w) THEN 0 ELSE holder

FoundStart(w) ==
    /\ IsNext(w, Once) /\ run[w].started
    /\ state' = IF Live(w) THEN "UNKNOWN" ELSE state
    /\ Settled(w) /\ run' = Gone(w)
    /\ UNCHANGED <<token, row, by, told, effects, repeats, zombies, left>>

(* StepBook.await: the settle that suspends writes the step and the job in one transaction, and looks whether the event is
   there. *)
Suspend(w) ==
    /\ IsNext(w, Await) /\ Bug # "event lost between check and wait"
    /\ state' = IF ~Live(w) THEN state ELSE IF row[Await] = "DONE" THEN "DUE" ELSE "WAITING"
    /\ row' = IF Live(w) /\ row[Await] = "NONE" THEN [row EXCEPT ![Await] = "OPEN"] ELSE row
    /\ Settled(w) /\ run' = Gone(w)
    /\ UNCHANGED <<token, by, told, effects, repeats, zombies, left>>

\* Only with the bug: the check and the wait are two transactions.
CheckFirst(w) ==
    /\ IsNext(w, Await) /\ Bug = "event lost between check and wait"
    /\ run' = IF row[Await] = "DONE" THEN Next(w) ELSE [run EXCEPT ![w].phase = "checked"]
    /\ UNCHANGED <<state, token, holder, row, by, told, effects, repeats, zombies, left>>

ThenWait(w) ==
    /\ run[w].phase = "checked"
    /\ state' = IF Live(w) THEN "WAITING" ELSE state
    /\ row' = IF Live(w) /\ row[Await] = "NONE" THEN [row EXCEPT ![Await] = "OPEN"] ELSE row
    /\ Settled(w) /\ run' = Gone(w)
    /\ UNCHANGED <<token, by, told, effects, repeats, zombies, left>>

Succeed(w) ==
    /\ run[w].phase = "next" /\ run[w].at = 4
    /\ state' = IF Live(w) THEN "ENDED" ELSE state
    /\ Settled(w) /\ run' = Gone(w)
    /\ UNCHANGED <<token, row, by, told, effects, repeats, zombies, left>>

--------------------------------------------------------------------------------------
(* The caller, and the world. *)

(* Reprise.tell, JobStore.tell: stores the event and wakes the job in one transaction. *)
Tell ==
    /\ told = "NO" /\ Bug # "woken before the event is stored"
    /\ told' = "YES"
    /\ row' = [row EXCEPT ![Await] = "DONE"]
    /\ state' = IF state = "WAITING" THEN "DUE" ELSE state
    /\ UNCHANGED <<token, holder, by, run, effects, repeats, zombies, left>>

TellInTwo ==
    /\ Bug = "woken before the event is stored"
    /\ \/ /\ told = "NO" /\ told' = "HALF"
          /\ state' = IF state = "WAITING" THEN "DUE" ELSE state
          /\ UNCHANGED row
       \/ /\ told = "HALF" /\ told' = "YES"
          /\ row' = [row EXCEPT ![Await] = "DONE"]
          /\ UNCHANGED state
    /\ UNCHANGED <<token, holder, by, run, effects, repeats, zombies, left>>

(* A lease ends, and a leader takes the job over and settles the loss. The old run does not know. *)
TakenOver == state = "RUNNING" /\ state' = "DUE" /\ holder' = 0

Lapse ==
    /\ TakenOver
    /\ \E w \in Workers : run[w].token = holder
    /\ Spend("lapses")
    /\ UNCHANGED <<token, row, by, told, run, effects, repeats, zombies>>

\* Of a lease that nobody keeps this is no fault, but only a matter of time.
LapseOfOrphan ==
    /\ TakenOver
    /\ \A w \in Workers : run[w].token # holder
    /\ UNCHANGED <<token, row, by, told, run, effects, repeats, zombies, left>>

Crash(w) ==
    /\ run[w] # None
    /\ Spend("crashes")
    /\ run' = Gone(w)
    /\ UNCHANGED <<state, token, holder, row, by, told, effects, repeats, zombies>>

Init ==
    /\ state = "DUE" /\ token = 0 /\ holder = 0
    /\ row = [s \in Names |-> "NONE"] /\ by = [s \in Names |-> 0]
    /\ told = "NO"
    /\ run = [w \in Workers |-> None]
    /\ effects = [s \in Names |-> 0] /\ repeats = {} /\ zombies = {}
    /\ left = [lapses |-> Lapses, crashes |-> Crashes, silences |-> Silences]

Progress ==
    \/ LapseOfOrphan \/ Tell \/ TellInTwo
    \/ \E w \in Workers : Claim(w) \/ Read(w) \/ Skip(w) \/ DoWork(w) \/ Start(w) \/ DoOnce(w) \/ FoundStart(w)
                          \/ Suspend(w) \/ CheckFirst(w) \/ ThenWait(w) \/ Succeed(w)
                          \/ \E s \in {Work, Once} : Checkpoint(w, s)

NextState ==
    \/ Progress
    \/ Lapse
    \/ \E w \in Workers : Crash(w) \/ \E s \in {Work, Once} : CheckpointUnanswered(w, s)

Spec == Init /\ [][NextState]_vars /\ WF_vars(Progress)

--------------------------------------------------------------------------------------
(* What must be true. *)

\* A step is written only under the live token.
OnlyTheHolderWrites == zombies = {}

\* What is stored stays as it was first stored.
StoredIsStored ==
    [][\A s \in Names : row[s] = "DONE" => row'[s] = "DONE" /\ by'[s] = by[s]]_vars

\* No run repeats a step that had its end before the run began.
NoStepIsRepeated == repeats = {}

\* Work outside of the database is repeated only after a fault: the worker died, or lost its lease.
EffectsAreExplained ==
    \A s \in {Work, Once} : effects[s] <= 1 + (Lapses - left.lapses) + (Crashes - left.crashes)

\* Work that runs at most once does so.
OnceIsOnce == effects[Once] <= 1

\* A job waits only for an event that has not come.
NobodyWaitsForWhatCame == state = "WAITING" => row[Await] = "OPEN"

\* A suspended job holds no lease.
SuspensionHoldsNothing == state # "RUNNING" => holder = 0

\* Once the faults are over the job ends.
EverythingEnds == <>(state \in {"ENDED", "UNKNOWN"})

Symmetry == Permutations(Workers)
======================================================================================
