---------------------------------- MODULE Lease ----------------------------------
(*
 * How Reprise leases jobs to workers, writes outcomes, and takes leases over: the protocol of io.reprise.store.JobStore as
 * the engine uses it (Fetcher, Runner, Committer, LeaseKeeper, Sweeper) and as the SQL of store-jdbc writes it.
 *
 * The one rule: a job is HELD under a lease exactly if the lease's row is there, the job is on its list, and the job's own
 * token is smaller than the lease's. A claim writes one lease row and no job. A settlement is accepted only from
 * who holds the job, and gives the job the lease's token, so that the lease holds it no longer.
 *
 * One action is one call of the store, which is a transaction, together with what the worker makes of the answer. Workers
 * take turns in any order, so a worker that is not scheduled is a paused one. There is no clock: a lease expires when
 * the action Lapse says so, at any moment. Delays are left out: a waiting job may be claimed at once or much later.
 *
 * Faults are bounded by the constants Lapses, Crashes and so on; within those bounds TLC looks at everything that can happen.
 * The constant Bug puts one known mistake of other queues into the protocol; TLC must then find what it breaks.
 *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Workers,      \* processes with an engine each
    Jobs,         \* all enqueued at the start
    MaxAttempts,  \* RetryPolicy.maxAttempts
    MaxLosses,    \* LossRule.max
    Lapses,       \* how often a lease of a living worker expires: a long pause, a partition
    Crashes,      \* how often a worker loses its memory: kill -9 and a new start
    Silences,     \* how often the answer of the store is lost, after the commit or instead of it
    Frees,        \* how often a run ends without spending an attempt: snooze, interruption, given back
    Replays,      \* how often somebody puts a dead letter back
    Stops,        \* how many workers are shut down in an orderly way
    Bug           \* "none", or the name of a mistake

VARIABLES
    job,      \* reprise_job: what is stored of each job
    lease,    \* reprise_lease: a set of rows
    history,  \* reprise_attempt, and the successes that are read from the job itself: pairs of job and token
    granted,  \* how many leases there have been; the source of tokens (sqlite_sequence, a sequence)
    runs,     \* LeaseBook and Runner of each worker: runs that are not settled yet
    batch,    \* Committer: outcomes whose write was not answered, to be written again
    lost,     \* Sweeper: leases this worker has taken over and not settled yet
    stopped,  \* workers that were shut down
    left,     \* how many faults may still happen
    claims,   \* only for the proof: claims of each job, less those that were given back and so never counted
    zombies,  \* only for the proof: jobs of which an outcome was accepted from somebody who did not hold them
    lies      \* only for the proof: jobs of which a listener was told something else than what was written

vars == <<job, lease, history, granted, runs, batch, lost, stopped, left, claims, zombies, lies>>

ASSUME Bug \in {
    "none",
    "completion by id alone",          \* settle ... where id = ?           (Oban, Graphile)
    "attempt number as token",         \* a run that costs no attempt has the same number again
    "stale rescue",                    \* losses written by id, from a list read earlier (River #1302)
    "reclaim by the worker's clock",   \* expires_at compared with a clock that is ahead
    "loss not counted",                \* orphans go back to waiting, nothing else (Ratchet)
    "loss not capped",                 \* counted, but nobody looks (db-scheduler, activepieces #15130)
    "take-over in two steps",          \* the old lease deleted in one transaction, the new one made in another
    "close before settle",             \* the lease closed in a transaction before the outcomes are written
    "renewal brings back the lease",   \* a heartbeat that inserts what is not there
    "tokens used again",               \* SQLite's max(rowid) + 1 instead of autoincrement
    "waiting job stays on the list",   \* of a lease that is still open, so that no claim takes it
    "no answer taken for refused",     \* a repeated write is stale, and reported so
    "no answer taken for written",     \* the opposite mistake
    "group commit lost at shutdown" }  \* the worker goes before its outcomes are written

--------------------------------------------------------------------------------------
(* The store. *)

Fresh == [state |-> "PENDING", token |-> 0, attempts |-> 0, losses |-> 0, others |-> 0, suspect |-> FALSE]

Terminal(j) == job[j].state # "PENDING"

\* The join of reprise_held with reprise_job that every statement has.
Holds(l, j) == j \in l.ids /\ job[j].token < l.token /\ ~Terminal(j)

Held(j) == \E l \in lease : Holds(l, j)

\* What a claim passes over: not only what is held, but whatever a lease lists. It does not read the jobs' tokens.
Listed(j) == \E l \in lease : j \in l.ids

NextToken ==
    IF Bug = "tokens used again"
    THEN 1 + (IF lease = {} THEN 0 ELSE CHOOSE t \in {l.token : l \in lease} : \A l \in lease : l.token <= t)
    ELSE granted + 1

NewLease(w, ids, alone) ==
    [token |-> NextToken, grant |-> granted + 1, worker |-> w, ids |-> ids, alone |-> alone, expired |-> FALSE]

(* How a run may end: the handler returned; it threw; it snoozed or was told to stop; it was given back before it began. *)
Endings == {"succeeded", "failed", "excused", "given back"}

IsFree(ending) == ending \in {"excused", "given back"}

\* Decider.settle: from the run, and from the job as it was when it was claimed.
Decided(r, ending) ==
    [job |-> r.job, token |-> r.token, grant |-> r.grant, number |-> r.attempts,
     spent |-> CASE ending \in {"succeeded", "failed"} -> "ATTEMPT"
                 [] ending = "excused" -> "OTHER"
                 [] ending = "given back" -> "NOTHING",
     next |-> CASE ending = "succeeded" -> "SUCCEEDED"
                [] ending = "failed" /\ r.attempts + 1 >= MaxAttempts -> "FAILED"
                [] OTHER -> "PENDING"]

\* Decider.lost: quarantine only if the job was alone in its lease, so that it is the one to blame.
DecidedLost(c, j) ==
    [job |-> j, token |-> c.token, grant |-> c.grant, spent |-> "LOSS", number |-> c.attempts[j],
     next |-> IF c.alone /\ c.losses[j] >= MaxLosses - 1 /\ Bug # "loss not capped" THEN "FAILED" ELSE "PENDING"]

\* The fence of JobWriter.settle.
IsLive(s) == \E l \in lease : l.token = s.token /\ Holds(l, s.job)

Accepts(s) ==
    CASE Bug = "completion by id alone" /\ s.spent # "LOSS" -> ~Terminal(s.job)
      [] Bug = "attempt number as token" -> ~Terminal(s.job) /\ Held(s.job) /\ job[s.job].attempts = s.number
      [] Bug = "stale rescue" /\ s.spent = "LOSS" -> TRUE
      [] OTHER -> IsLive(s)

\* SUCCEED, END and WAIT of PostgresSettlements; Standing.after of SqliteSettlements.
After(j, s) ==
    LET counts == ~(s.spent = "LOSS" /\ Bug = "loss not counted") IN
    [state |-> s.next,
     token |-> s.token,
     attempts |-> job[j].attempts + (IF s.spent = "ATTEMPT" THEN 1 ELSE 0),
     losses |-> job[j].losses + (IF s.spent = "LOSS" /\ counts THEN 1 ELSE 0),
     others |-> job[j].others + (IF s.spent = "OTHER" THEN 1 ELSE 0),
     suspect |-> IF s.spent = "ATTEMPT" THEN FALSE
                 ELSE IF s.spent = "LOSS" /\ s.next = "PENDING" /\ job[j].losses > 0 THEN TRUE
                 ELSE job[j].suspect]

(* JobStore.settle: one transaction. A job that waits leaves the list of its lease; that one which ended stays on it does
   not matter. SQLite takes both off; the model is the weaker of the two. *)
Settle(settlements, closing) ==
    LET accepted == {s \in settlements : Accepts(s)}
        waiting(l) == {s.job : s \in {a \in accepted : a.next = "PENDING" /\ a.token = l.token}}
        leaves(l) == IF Bug = "waiting job stays on the list" THEN {} ELSE waiting(l)
        of(j) == CHOOSE s \in accepted : s.job = j
        isTrue(s) == \E l \in lease : l.grant = s.grant /\ Holds(l, s.job)
    IN  /\ job' = [j \in Jobs |-> IF \E s \in accepted : s.job = j THEN After(j, of(j)) ELSE job[j]]
        /\ lease' = {[l EXCEPT !.ids = @ \ leaves(l)] : l \in {m \in lease : m.token \notin closing}}
        /\ history' = history \union {<<s.job, s.token>> : s \in {a \in accepted : a.spent # "NOTHING"}}
        /\ claims' = [j \in Jobs |->
                        IF \E s \in accepted : s.job = j /\ s.spent = "NOTHING" THEN claims[j] - 1 ELSE claims[j]]
        /\ zombies' = zombies \union {s.job : s \in {a \in accepted : ~isTrue(a)}}

StoreUnchanged == UNCHANGED <<job, lease, history, claims, zombies>>

--------------------------------------------------------------------------------------
(* Workers. *)

Lives(w) == w \notin stopped

Spend(fault) == left[fault] > 0 /\ left' = [left EXCEPT ![fault] = @ - 1]

\* Decider.together: how many suspects may run on one worker with a job that was lost so often. Here a group is two.
Together(j) == IF MaxLosses - job[j].losses < 2 THEN 1 ELSE 2

Run(l, j) ==
    [job |-> j, token |-> l.token, grant |-> l.grant, attempts |-> job[j].attempts, alone |-> l.alone,
     together |-> IF job[j].suspect THEN Together(j) ELSE 0, lapsed |-> FALSE]

\* LeaseBook.suspects: what a worker holds beside a suspect counts, and so does what those allow.
Fits(w, ids) ==
    LET held == {r \in runs[w] : r.together > 0}
        count == Cardinality(ids) + Cardinality(held)
    IN  (\A j \in ids : count <= Together(j)) /\ (\A r \in held : count <= r.together)

(* Fetcher.step, JobStore.claim. Suspects come in leases of their own, as many on a worker as each of them allows; alone is
   who allows no other. *)
Claim(w) ==
    \E ids \in SUBSET {j \in Jobs : ~Terminal(j) /\ ~Listed(j)} : \E suspects \in BOOLEAN : \E heard \in BOOLEAN :
        LET alone == suspects /\ \E j \in ids : Together(j) = 1
            made == NewLease(w, ids, alone) IN
        /\ Lives(w)
        /\ ids # {}
        /\ \A j \in ids : job[j].suspect = suspects
        /\ suspects => Fits(w, ids)
        /\ lease' = lease \union {made}
        /\ granted' = granted + 1
        /\ claims' = [j \in Jobs |-> IF j \in ids THEN claims[j] + 1 ELSE claims[j]]
        /\ IF heard
           THEN runs' = [runs EXCEPT ![w] = @ \union {Run(made, j) : j \in ids}] /\ UNCHANGED left
           ELSE Spend("silences") /\ UNCHANGED runs
        /\ UNCHANGED <<job, history, batch, lost, stopped, zombies, lies>>

\* LeaseBook.closedBy: leases of which nothing would remain.
ClosedBy(w, group) ==
    LET closes(t) == \A r \in runs[w] : r.token = t => \E s \in group : s.job = r.job /\ s.token = t
    IN  {t \in {s.token : s \in group} : closes(t)}

Written(w, group) == Settle(group, IF Bug = "close before settle" THEN {} ELSE ClosedBy(w, group))

(* What the Committer writes next: what was not answered before it takes anything new; else any of the runs, each job once,
   each ended in any way. Any, because handlers end at any time, and because a group that the store refuses is halved. *)
Ended(w) ==
    {Decided(r, ending) : r \in runs[w], ending \in {e \in Endings : IsFree(e) => left.frees > 0}}

Groups(w) ==
    IF batch[w] # {} THEN {batch[w]}
    ELSE {g \in SUBSET Ended(w) : g # {} /\ \A s, q \in g : s.job = q.job => s = q}

FreesOf(group) == Cardinality({s \in group : s.spent \in {"OTHER", "NOTHING"}})

\* Faults are paid when an outcome is first decided.
Pay(w, group, silences) ==
    LET frees == IF batch[w] = {} THEN FreesOf(group) ELSE 0 IN
    /\ left.frees >= frees /\ left.silences >= silences
    /\ left' = [left EXCEPT !.frees = @ - frees, !.silences = @ - silences]

(* Runner.perform, then Committer.write, answered: the group is forgotten, and listeners are told of each. Of what is stale
   after a write that was not answered the store is asked whether it was written then: Committer.wasWrittenBefore. *)
Commit(w) ==
    \E group \in Groups(w) :
        LET repeated == batch[w] # {}
            before(s) == <<s.job, s.token>> \in history
            told(s) == CASE Bug = "no answer taken for refused" -> Accepts(s)
                         [] Bug = "no answer taken for written" /\ repeated -> TRUE
                         [] OTHER -> Accepts(s) \/ (repeated /\ before(s))
            isTrue(s) == Accepts(s) \/ before(s)
        IN  /\ Lives(w)
            /\ Written(w, group)
            /\ runs' = [runs EXCEPT ![w] = {r \in @ : \A s \in group : s.job # r.job \/ s.grant # r.grant}]
            /\ batch' = [batch EXCEPT ![w] = {}]
            /\ lies' = lies \union {s.job : s \in {q \in group : q.spent # "NOTHING" /\ told(q) # isTrue(q)}}
            /\ Pay(w, group, 0)
            /\ UNCHANGED <<granted, lost, stopped>>

(* Committer.retryLater: the call failed. Whether it was written is not known; it is written again, decided as it was. *)
CommitUnanswered(w) ==
    \E group \in Groups(w) :
        /\ Lives(w)
        /\ Written(w, group) \/ StoreUnchanged
        /\ batch' = [batch EXCEPT ![w] = group]
        /\ Pay(w, group, 1)
        /\ UNCHANGED <<granted, runs, lost, stopped, lies>>

(* LeaseKeeper.step, JobStore.renew: an expired lease that nobody took over is as good as ever. *)
Renew(w) ==
    LET mine == {l \in lease : l.worker = w /\ \E r \in runs[w] : r.grant = l.grant}
        gone == {r \in runs[w] : \A l \in lease : l.token # r.token}
        back == IF Bug # "renewal brings back the lease" THEN {}
                ELSE {[token |-> r.token, grant |-> r.grant, worker |-> w, ids |-> {r.job}, alone |-> r.alone,
                       expired |-> FALSE] : r \in gone}
    IN  /\ Lives(w)
        /\ back # {} \/ \E l \in mine : l.expired
        /\ lease' = {IF l \in mine THEN [l EXCEPT !.expired = FALSE] ELSE l : l \in lease} \union back
        /\ runs' = [runs EXCEPT ![w] =
                      {IF \E l \in mine : l.grant = r.grant THEN [r EXCEPT !.lapsed = FALSE] ELSE r : r \in @}]
        /\ UNCHANGED <<job, history, granted, batch, lost, stopped, left, claims, zombies, lies>>

(* Sweeper.reclaim, JobStore.takeOver: the old token ends and the new one begins in one transaction. The lease that was
   made is not in the taker's LeaseBook: nobody renews it, so that a taker that dies is itself taken over. *)
TakeOver(w) ==
    \E l \in lease : \E heard \in BOOLEAN :
        LET remaining == {j \in Jobs : Holds(l, j)}
            made == NewLease(w, remaining, l.alone)
            claim == [token |-> made.token, grant |-> made.grant, alone |-> made.alone, jobs |-> remaining,
                      losses |-> [j \in remaining |-> job[j].losses],
                      attempts |-> [j \in remaining |-> job[j].attempts]]
        IN  /\ Lives(w)
            /\ l.expired \/ Bug = "reclaim by the worker's clock"
            /\ IF remaining = {}
               THEN lease' = lease \ {l} /\ heard /\ UNCHANGED <<granted, lost, left>>
               ELSE /\ CASE Bug = "take-over in two steps" -> lease' = lease \ {l}
                         [] Bug = "stale rescue" -> lease' = lease
                         [] OTHER -> lease' = (lease \ {l}) \union {made}
                    /\ granted' = granted + 1
                    /\ Bug = "stale rescue" => claim \notin lost[w] /\ lost[w] = {}
                    /\ IF heard
                       THEN lost' = [lost EXCEPT ![w] = @ \union {claim}] /\ UNCHANGED left
                       ELSE Spend("silences") /\ UNCHANGED lost
            /\ UNCHANGED <<job, history, runs, batch, stopped, claims, zombies, lies>>

\* Only with the bug: the second of two steps.
TakeOverSecondStep(w) ==
    /\ Bug = "take-over in two steps"
    /\ \E c \in lost[w] :
        /\ \A l \in lease : l.token # c.token
        /\ lease' = lease \union {[token |-> c.token, grant |-> c.grant, worker |-> w, ids |-> c.jobs,
                                   alone |-> c.alone, expired |-> FALSE]}
        /\ UNCHANGED <<job, history, granted, runs, batch, lost, stopped, left, claims, zombies, lies>>

(* Sweeper.settleLost. If the store does not answer, the sweeper forgets it: the lease will expire once more. *)
SettleLost(w) ==
    \E c \in lost[w] :
        /\ Lives(w)
        /\ \/ Settle({DecidedLost(c, j) : j \in c.jobs}, {c.token}) /\ UNCHANGED left
           \/ Settle({DecidedLost(c, j) : j \in c.jobs}, {c.token}) /\ Spend("silences")
           \/ StoreUnchanged /\ Spend("silences")
        /\ lost' = [lost EXCEPT ![w] = @ \ {c}]
        /\ UNCHANGED <<granted, runs, batch, stopped, lies>>

\* Only with the bug: a transaction before the one that writes the outcomes.
CloseFirst(w) ==
    /\ Bug = "close before settle"
    /\ batch[w] = {}
    /\ \E group \in Groups(w) :
        /\ batch' = [batch EXCEPT ![w] = group]
        /\ lease' = {l \in lease : l.token \notin ClosedBy(w, group)}
        /\ Pay(w, group, 0)
        /\ UNCHANGED <<job, history, granted, runs, lost, stopped, claims, zombies, lies>>

(* Engine.stop: when the Committer is idle. A worker goes only if another stays. *)
Stop(w) ==
    /\ Lives(w)
    /\ stopped \union {w} # Workers
    /\ \/ runs[w] = {} /\ batch[w] = {} /\ lost[w] = {}
       \/ Bug = "group commit lost at shutdown"
    /\ Spend("stops")
    /\ stopped' = stopped \union {w}
    /\ runs' = [runs EXCEPT ![w] = {}]
    /\ batch' = [batch EXCEPT ![w] = {}]
    /\ lost' = [lost EXCEPT ![w] = {}]
    /\ StoreUnchanged
    /\ UNCHANGED <<granted, lies>>

--------------------------------------------------------------------------------------
(* The world. *)

Lapsed(l) ==
    /\ lease' = (lease \ {l}) \union {[l EXCEPT !.expired = TRUE]}
    /\ runs' = [w \in Workers |-> 
                  {IF r.grant = l.grant THEN [r EXCEPT !.lapsed = TRUE] ELSE r : r \in runs[w]}]
    /\ UNCHANGED <<job, history, granted, batch, lost, stopped, claims, zombies, lies>>

\* Somebody is there to renew the lease, or is about to settle what was lost.
Kept(l) == \E w \in Workers : (\E r \in runs[w] : r.grant = l.grant) \/ (\E c \in lost[w] : c.grant = l.grant)

Lapse == \E l \in lease : ~l.expired /\ Kept(l) /\ Lapsed(l) /\ Spend("lapses")

\* Of a lease that nobody keeps this is no fault, but only a matter of time.
LapseOfOrphan == \E l \in lease : ~l.expired /\ ~Kept(l) /\ Lapsed(l) /\ UNCHANGED left

(* A process dies, and another begins with an empty memory. *)
Crash(w) ==
    /\ runs[w] # {} \/ lost[w] # {}
    /\ Spend("crashes")
    /\ runs' = [runs EXCEPT ![w] = {}]
    /\ batch' = [batch EXCEPT ![w] = {}]
    /\ lost' = [lost EXCEPT ![w] = {}]
    /\ StoreUnchanged
    /\ UNCHANGED <<granted, stopped, lies>>

(* JobStore.revive: a dead letter comes back with its token, and leaves the list of the lease under which it failed. *)
Replay(j) ==
    /\ job[j].state = "FAILED"
    /\ Spend("replays")
    /\ job' = [job EXCEPT ![j] = [Fresh EXCEPT !.token = job[j].token]]
    /\ lease' = {[l EXCEPT !.ids = @ \ {j}] : l \in lease}
    /\ claims' = [claims EXCEPT ![j] = 0]
    /\ UNCHANGED <<history, granted, runs, batch, lost, stopped, zombies, lies>>

Init ==
    /\ job = [j \in Jobs |-> Fresh]
    /\ lease = {} /\ history = {} /\ granted = 0
    /\ runs = [w \in Workers |-> {}]
    /\ batch = [w \in Workers |-> {}]
    /\ lost = [w \in Workers |-> {}]
    /\ stopped = {}
    /\ left = [lapses |-> Lapses, crashes |-> Crashes, silences |-> Silences, frees |-> Frees, replays |-> Replays,
               stops |-> Stops]
    /\ claims = [j \in Jobs |-> 0]
    /\ zombies = {} /\ lies = {}

\* What goes on of itself, without anybody's doing or a fault.
Progress ==
    \/ LapseOfOrphan
    \/ \E w \in Workers : Claim(w) \/ Commit(w) \/ TakeOver(w) \/ SettleLost(w)

Next ==
    \/ Progress
    \/ \E w \in Workers : CommitUnanswered(w) \/ Renew(w) \/ Stop(w) \/ Crash(w)
                          \/ TakeOverSecondStep(w) \/ CloseFirst(w)
    \/ Lapse
    \/ \E j \in Jobs : Replay(j)

Spec == Init /\ [][Next]_vars /\ WF_vars(Progress)

--------------------------------------------------------------------------------------
(* What must be true. *)

\* What was enqueued has ended, or waits and can be claimed, or is held: no lease lists what it does not hold.
NobodyKeepsAWaitingJob == \A l \in lease : \A j \in l.ids : ~Terminal(j) => Holds(l, j)

\* At most one live token per job.
OneLiveToken == \A j \in Jobs : Cardinality({l \in lease : Holds(l, j)}) <= 1

\* An outcome is accepted only with that token.
OnlyTheHolderSettles == zombies = {}

\* Tokens only grow.
TokensGrow == [][\A j \in Jobs : job'[j].token >= job[j].token]_vars

\* Every claim is accounted for.
ClaimsAddUp ==
    \A j \in Jobs : claims[j] = job[j].attempts + job[j].losses + job[j].others + (IF Held(j) THEN 1 ELSE 0)

\* Attempts end at their cap.
AttemptsAreCapped == \A j \in Jobs : job[j].attempts <= MaxAttempts

\* So do losses. Two are bad luck, from then on the job runs beside fewer others and at last alone, and a run that is counted clears it once.
LossesAreCapped ==
    \A j \in Jobs : job[j].losses <= (IF MaxLosses > 3 THEN MaxLosses ELSE 3) + job[j].attempts

\* A handler runs beside another of the same job only if a lease of theirs has expired by the store's clock.
NobodyRunsBesideALiveLease ==
    LET running(w) == {r \in runs[w] : \A s \in batch[w] : s.job # r.job \/ s.grant # r.grant} IN
    \A w, v \in Workers : \A r \in running(w) : \A q \in running(v) :
        r.job = q.job /\ r.grant # q.grant => r.lapsed \/ q.lapsed

\* What has ended stays ended, unless a person wants it back.
EndedIsEnded ==
    [][left'.replays = left.replays => \A j \in Jobs : Terminal(j) => job'[j].state = job[j].state]_vars

\* Listeners are told what was written.
ToldIsWritten == lies = {}

\* Without any fault a worker that was shut down leaves nothing behind.
AStoppedWorkerOwesNothing ==
    left.lapses = Lapses /\ left.crashes = Crashes /\ left.silences = Silences
        => \A l \in lease : l.worker \in stopped => \A j \in Jobs : ~Holds(l, j)

\* Once the faults are over everything ends. (Replays are bounded, so what is put back ends too.)
EverythingEnds == <>[](\A j \in Jobs : Terminal(j))

--------------------------------------------------------------------------------------
(* For TLC: which states are alike. Tokens are only compared, so their order is enough; of what has ended only matters what
   a replay would see; of the history only what somebody may still ask for. *)

Asked == {<<s.job, s.token>> : s \in UNION {batch[w] : w \in Workers}}

\* Nothing is done to what has ended, except that a dead letter may come back.
IsOver(j) == Terminal(j) /\ ~(job[j].state = "FAILED" /\ left.replays > 0)

Tokens ==
    {job[j].token : j \in {i \in Jobs : ~IsOver(i)}} \union {l.token : l \in lease}
        \union UNION {{r.token : r \in runs[w]} \union {s.token : s \in batch[w]} \union {c.token : c \in lost[w]} : w \in Workers}

Alike ==
    LET used == TLCEval(Tokens)
        rank == TLCEval([t \in used |-> Cardinality({u \in used : u < t})])
        ranked(set) == {[x EXCEPT !.token = rank[@], !.grant = 0] : x \in set}
    IN  <<[j \in Jobs |-> IF IsOver(j) THEN [Fresh EXCEPT !.state = job[j].state]
                          ELSE [job[j] EXCEPT !.token = rank[@]]],
          ranked(lease),
          [w \in Workers |-> <<ranked(runs[w]), ranked(batch[w]), ranked(lost[w])>>],
          {<<h[1], rank[h[2]]>> : h \in history \intersect Asked},
          stopped, left, zombies, lies, ClaimsAddUp, LossesAreCapped, AttemptsAreCapped>>

Symmetry == Permutations(Workers) \union Permutations(Jobs)
======================================================================================
