import { agentStream } from '../../../domain/log/ids.ts'
import { delegate, kinship } from './kinship.ts'
import { MemoryLog } from './memory-log.ts'
import { DECIDED, HASH } from './spec.ts'
import { Stores } from './stores.ts'
import { Actor, Tape } from './story.ts'

const TOOLS = ['read_file', 'write_file', 'run_command', 'ask_user']

interface Story {
  readonly log: MemoryLog
  readonly actors: readonly Actor[]
}

/** Several interleaved agents (runs, children, forks), chosen by the tape. */
export function tell(numbers: readonly number[], erasures = true): Story {
  const tape = new Tape(numbers)
  const log = new MemoryLog()
  let time = Date.UTC(2026, 0, 1)
  const now = () => ++time
  log.add({ stream: 'log-meta', type: 'log_created', body: { logId: 'log0' }, runId: 'log', at: now() })
  const actors: Actor[] = []
  const stores = new Stores(log, now)
  while (tape.more) {
    const wanted = tape.pick(40)
    if (wanted > 34) stores.tell(erasures)
    if (actors.length === 0 || wanted === 0) actors.push(born(tape, log, now, actors))
    else live(actors[tape.pick(actors.length)]!, tape, log, erasures)
  }
  return { log, actors }
}

function born(tape: Tape, log: MemoryLog, now: () => number, actors: readonly Actor[]): Actor {
  const id = `a${String(actors.length).padStart(3, '0')}`
  const other = actors[tape.pick(Math.max(1, actors.length))]
  const kind = other ? tape.pick(3) : 0
  if (other && kind === 1) {
    const actor = new Actor(log, now, id, id)
    const source = log.events.findLast((event) => event.header.stream === agentStream(other.id))!
    actor.forkFrom(other, source.header.revision, source.hash)
    return actor
  }
  const actor = new Actor(log, now, id, other && kind === 2 ? other.runId : id)
  if (other && kind === 2) delegate(other, id, tape)
  if (other && kind === 2) actor.start({ agentId: other.id, toolCallId: `${other.id}.t1.c0` })
  else actor.start()
  return actor
}

function live(actor: Actor, tape: Tape, log: MemoryLog, erasures: boolean): unknown {
  if (actor.finished) return afterwards(actor, tape, log, erasures)
  const choice = tape.pick(40)
  if (choice === 0) return actor.user('user_input', { text: 'please '.repeat(1 + tape.pick(100)) })
  if (choice === 1) return actor.user('paused', {})
  if (choice === 2) return actor.user('resumed', {})
  if (choice === 3) return actor.user('step_requested', {})
  if (choice === 4) return actor.user('standing_approval', { tools: ['write_file'] })
  if (choice === 8) return actor.user('request_noted', { request: 'pause' })
  if (choice === 5)
    return actor.write('driver_claimed', { driverId: 'd', epoch: 1 + tape.pick(5), minReader: 1, keepup: 'b' })
  if (choice === 7) {
    return actor.write('workspace_drifted', { expected: 'a', found: 'b', changed: ['x'] })
  }
  if (choice === 6) return actor.user('cancel_requested', { deadlineMs: 1000 })
  if (choice > 9 && choice < 18) return kinship(actor, tape)
  if (choice === 18) return aboutRequests(actor, tape)
  if (choice === 19) return byPeople(actor, tape)
  if (choice === 9) return actor.loseEnd((['happened', 'run', 'abandon'] as const)[tape.pick(3)]!)
  if (actor.inTurn === 'model') return model(actor, tape)
  if (actor.inTurn === 'tools') return tools(actor, tape)
  if (actor.turn > 0 && tape.pick(4) === 0) {
    return actor.finish((['completion', 'recovered', 'error'] as const)[tape.pick(3)]!)
  }
  if (actor.turn === 0) actor.user('user_input', { text: `task of ${actor.id}` })
  actor.beginTurn()
}

/** Facts about requests. No table has rows for them. */
function aboutRequests(actor: Actor, tape: Tape): unknown {
  const facts = [
    () =>
      actor.write('context_compressed', {
        ...{ reason: 'threshold', strategy: 'truncate', tokens: { before: 9, after: 5, limit: 10 } },
        segments: [{ kind: 'keep', from: 0, to: 1 }],
      }),
    () => actor.user('context_expanded', {}),
    () => actor.write('summary_failed', { attempt: 1, error: { code: 'EXECUTION_FAILED', message: 'no summary' } }),
    () =>
      actor.write('knowledge_added', {
        items: [{ source: { kind: 'file', name: 'rules.md' }, hash: 'a'.repeat(64), text: 'Be brief.' }],
      }),
    () => actor.write('reuse_ended', { reason: 'another question', differs: ['messages'] }),
  ]
  return facts[tape.pick(facts.length)]!()
}

/** Tasks, permissions and restores. */
function byPeople(actor: Actor, tape: Tape): unknown {
  const task = (id: string) => ({ id, title: `Do ${id}`, status: 'pending', dependencies: [] })
  const permission = `${actor.id}.t1.c0`
  const facts = [
    () => actor.write('tasks_updated', { set: [task(`t${tape.pick(3)}`)], removed: [`t${3 + tape.pick(2)}`] }),
    () =>
      actor.write(
        'permission_granted',
        { tool: 'write_file', scope: 'run', until: '2026-01-02T00:00:00.000Z', reason: 'to mend it' },
        { toolCallId: permission },
      ),
    () => actor.write('permission_ended', { permission, why: 'expired' }),
    () => actor.user('permission_revoked', { permission }),
    () => {
      const tree = 'a'.repeat(40)
      const { header } = actor.user('restore_requested', { tree, replaces: 'b'.repeat(40), step: 1 })
      actor.write('restore_ended', {
        restore: header.revision,
        outcome: tape.pick(2) === 0 ? 'restored' : 'interrupted',
      })
    },
  ]
  return facts[tape.pick(facts.length)]!()
}

function model(actor: Actor, tape: Tape): unknown {
  const choice = tape.pick(6)
  if (choice === 0) {
    const failed = {
      error: 'overloaded',
      code: 'OVERLOADED',
      recoverable: true,
      attempt: actor.attempt,
      delayMs: tape.pick(900),
    }
    actor.write('error', failed)
    actor.attempt++
    if (failed.delayMs > 450) actor.write('model_held', { attempt: actor.attempt, delayMs: 30 })
    return actor.callModel()
  }
  if (choice === 1) {
    const usage = { input: 50, output: 5, cacheRead: 0, cacheWrite: 0 }
    const lost = { attempt: actor.attempt, purpose: 'turn', usage }
    actor.write('model_attempt_lost', { ...lost, nanoDollars: 77 })
    if (tape.pick(3) === 0) actor.write('model_late', { ...lost, nanoDollars: 78, servedBy: 'model-b' })
    actor.attempt++
    return actor.callModel()
  }
  const count = tape.pick(4)
  actor.answer(Array.from({ length: count }, () => TOOLS[tape.pick(TOOLS.length)]!))
  if (count === 0) actor.endTurn('text')
}

function tools(actor: Actor, tape: Tape): unknown {
  const open = actor.calls.filter((call) => call.status !== 'ended')
  const call = open[tape.pick(Math.max(1, open.length))]
  if (!call) return actor.endTurn()
  const of = { toolCallId: call.id }
  if (call.status === 'planned') {
    const asks = tape.pick(2) === 1
    const body = {
      toolName: call.tool,
      index: call.index,
      argumentsRef: actor.given(call.index),
      argumentsHash: HASH,
      attempt: 1,
      effect: 'pure',
      intent: !asks,
    }
    actor.write('tool_call_start', body, of)
    call.status = asks ? 'asked' : 'running'
    if (!asks) return
    const expiresAt = new Date(Date.UTC(2026, 0, 2) + tape.pick(1000)).toISOString()
    return actor.write(
      'approval_requested',
      { toolName: call.tool, argumentsRef: body.argumentsRef, argumentsHash: HASH, expiresAt, reason: 'policy' },
      of,
    )
  }
  if (call.status === 'asked') {
    const choice = tape.pick(4)
    if (choice === 3) {
      actor.user('approval_supported', { decided: DECIDED, argumentsHash: HASH, question: HASH }, of)
      return
    }
    if (choice === 2) actor.write('approval_expired', { argumentsHash: HASH }, of)
    else
      actor.user(
        'approval_decided',
        { decision: choice === 0 ? 'approved' : 'rejected', decided: DECIDED, argumentsHash: HASH },
        of,
      )
    call.status = 'running'
    if (choice === 0 && tape.pick(4) === 0) {
      const tool = { description: 'Another.', parameters: {}, effect: 'pure' }
      actor.write('approval_voided', { attempt: 1, argumentsHash: HASH, reason: 'it has changed', tool }, of)
    }
    if (choice === 0) actor.write('tool_call_intent', { attempt: 1 }, of)
    else end(actor, call, { code: choice === 1 ? 'APPROVAL_REJECTED' : 'APPROVAL_EXPIRED', message: 'no' })
    return
  }
  if (call.status === 'unknown') {
    actor.user('tool_call_resolved', { decision: 'abandon' }, of)
    return end(actor, call, { code: 'UNKNOWN_OUTCOME', message: 'given up' })
  }
  running(actor, call, tape)
}

function running(actor: Actor, call: Actor['calls'][number], tape: Tape): unknown {
  const of = { toolCallId: call.id }
  switch (tape.pick(8)) {
    case 0:
      return actor.write(
        'tool_call_retry',
        { attempt: 2, error: { code: 'TIMEOUT', message: 'slow' }, delayMs: 500 },
        of,
      )
    case 1:
      actor.write('tool_call_unknown', { attempt: 1, reason: 'its driver died' }, of)
      call.status = 'unknown'
      return
    case 2:
      actor.write('context_set', { key: `k${tape.pick(3)}`, ...variable(actor, tape) }, of)
      return end(actor, call)
    case 3:
      actor.write(
        'artifact_registered',
        {
          artifact: {
            id: `f${tape.pick(4)}`,
            type: 'plan',
            title: 'P',
            argumentsRef: { ...actor.given(call.index), item: 0 },
          },
        },
        of,
      )
      return end(actor, call)
    case 4:
      actor.write('gate_checked', { gate: 'tests_exist', after: 'implement', passed: true, evidence: 'a.test.ts' }, of)
      actor.write('phase_advanced', { from: 'plan', to: 'implement', summary: 'planned' }, of)
      return end(actor, call)
    case 5:
      return end(actor, call, { code: 'EXECUTION_FAILED', message: 'no such thing' })
    default:
      return end(actor, call, undefined, tape.pick(5) === 0)
  }
}

function variable(actor: Actor, tape: Tape) {
  const pick = tape.pick(9)
  return pick > 6 ? { value: { said: pick } } : { argumentsRef: actor.given(pick % actor.calls.length) }
}

function end(
  actor: Actor,
  call: Actor['calls'][number],
  error?: { code: string; message: string },
  blob = false,
): void {
  actor.endCall(call.id, call.tool, error, blob)
  call.status = 'ended'
  if (call.tool === 'write_file') actor.version(error === undefined)
}

function afterwards(actor: Actor, tape: Tape, log: MemoryLog, erasures: boolean): void {
  const own = log.events.filter((event) => event.header.stream === agentStream(actor.id))
  const choice = tape.pick(4)
  if (choice === 0 && actor.attempt > 0) {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    actor.write('model_attempt_lost', { attempt: actor.attempt + 1, purpose: 'turn', usage, nanoDollars: null })
  } else if (erasures && choice > 1) {
    const some = Array.from({ length: choice - 1 }, () => own[tape.pick(own.length)]!.header)
    // The runtime never erases residues or `erased` events.
    const gone = some.filter(({ type }) => type !== 'residue' && type !== 'erased').map(({ revision }) => revision)
    if (gone.length === 0) return
    // A body that its erasure could not read has no residue.
    const lost = own.filter(({ header }) => header.body.place === 'blob').map(({ header }) => header.revision)
    actor.erase([...new Set(gone)], tape.pick(3) === 0 ? lost : [])
  }
}
