import { meaningOf } from '../../../domain/agent/rules/tool-change.ts'
import { callsOf } from '../../../domain/agent/state/state.ts'
import { ToolChanged } from '../../../domain/calls/errors.ts'
import type { SeenFile } from '../../../domain/calls/question-hash.ts'
import { approvalHash } from '../../../domain/calls/question-hash.ts'
import type { ToolMeaning } from '../../../domain/calls/tools/tool-spec.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { call, calls, completes, testModel, testSpec } from '../harness.ts'
import { tool } from '../story.ts'
import { Folder } from './folder.ts'
import { ANN, tale } from './tale.ts'

// People and drivers: approvals, doubts, late outcomes, pauses and steps.

const hang = () => new Promise<never>(() => undefined)
const price = { asOf: '2026-01-01', input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 }
const priced = {
  models: { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, price, timeoutMs: 2 ** 30 }] },
}

/** Approved, rejected, expired; with and without a reason; a standing approval. */
export async function approvals() {
  const put = tool('put', { effect: 'idempotent' })
  const asks = (n: number) => calls(call('put', { n }))
  const policy = { requiresApproval: ['put'], approvalTtlMs: 60_000 }
  const run = await tale({ says: [1, 2, 3, 4, 5].map(asks).concat(completes()), tools: [put], spec: { policy } })
  const decide = async (turn: number, decision: 'approved' | 'rejected', reason?: string) => {
    await run.drive()
    const said = reason === undefined ? {} : { reason }
    await run.tell({ kind: 'decide_approval', toolCallId: run.call(turn), decision, ...said })
  }
  await decide(1, 'approved')
  await decide(2, 'approved', 'looked at it')
  await decide(3, 'rejected', 'not there')
  await run.drive()
  run.clock.time += 60_000
  await run.drive()
  await run.tell({ kind: 'standing_approval', tools: ['put'], reason: 'all night' })
  await run.drive()
  return run.log
}

/** Calls that two people must approve: approved, rejected after an approval, asked again for another file, expired. */
export async function approvers() {
  const effects = ['pure', 'idempotent', 'reconcilable', 'irreversible'] as const
  const tools = effects.map((effect) => tool(`put_${effect}`, { effect }))
  const says = [...effects.map((effect) => calls(call(`put_${effect}`, { n: 1 }))), completes()]
  const rules = [
    { tools: ['*'], count: 2 },
    { tools: ['put_irreversible'], effects: [...effects], count: 3 },
  ]
  const policy = { mode: 'batch', approvalTtlMs: 60_000, approvers: rules }
  const run = await tale({ says, tools, spec: { policy } })
  const decide = async (turn: number, who: string, more: object = {}) => {
    const by = { kind: 'user', id: who, claimed: true } as const
    const command = { kind: 'decide_approval', toolCallId: run.call(turn), decision: 'approved', ...more } as const
    await run.tell(command, { by })
    await run.drive()
  }
  await run.drive()
  const asked = callsOf(await run.state())[0]!
  if (asked.stage.at !== 'approval') throw new Error('the call waits for no approval')
  const questionHash = approvalHash(asked, asked.stage.expiresAt, [])
  await decide(1, 'ann', { reason: 'looked at it', questionHash })
  await decide(1, 'ben')
  await decide(2, 'ann')
  await decide(2, 'ben', { decision: 'rejected' })
  await decide(3, 'ann', { files: [{ path: 'a', content: 'absent' }] })
  await decide(3, 'ben', { files: [{ path: 'a', content: 'unreadable' }] })
  await decide(3, 'ann', { files: [{ path: 'a', content: 'unreadable' }] })
  await decide(4, 'ann')
  await decide(4, 'ben', { lapsed: ['ann'] })
  run.clock.time += 60_000
  await run.drive()
  return run.log
}

/** Tools that change while a person decides: one still accepts the arguments, the other does not. */
export async function voided() {
  const now = { description: 'Another.', parameters: {} }
  const strict = { type: 'object', properties: { m: { type: 'number' } }, required: ['m'] }
  const changing = (name: string, other: Partial<ToolMeaning>) =>
    tool(name, {}, (_, context) => {
      if (context.tool?.description === 'Another.') return 'ok'
      throw new ToolChanged({ ...now, effect: 'pure', ...other }, `its server has changed description of ${name}`)
    })
  const says = [...['send', 'drop', 'put'].map((name) => calls(call(name, { n: 1 }))), completes()]
  const tools = [
    changing('send', { effect: 'irreversible' }),
    changing('drop', { parameters: strict }),
    changing('put', { effect: 'idempotent' }),
  ]
  const run = await tale({ says, tools, spec: { policy: { requiresApproval: ['send', 'drop', 'put'] } } })
  for (let end = await run.drive(); end.end === 'waiting' && end.for === 'approval'; end = await run.drive())
    await run.tell({ kind: 'decide_approval', toolCallId: end.toolCallIds[0]!, decision: 'approved' })
  return run.log
}

/**
 * Answers to outdated questions: about files that change after the approval, and about a tool with a new definition.
 */
export async function questions() {
  const folder = new Folder({ 'build.sh': 'make', 'lib/a.sh': '' })
  const build = tool('build', { effect: 'idempotent' })
  const [first, second] = ['first', 'second'].map(sha256)
  const ask = tool('mail:ask', { effect: 'irreversible', definitionHash: first }, (_, { tool: known }) => {
    if (known?.definitionHash !== first) return 'ok'
    throw new ToolChanged({ ...meaningOf(known!), definitionHash: second }, 'its output schema has changed')
  })
  const secrets = [{ name: 'MAIL', reference: `secret:ku_${'0'.repeat(26)}`, server: 'mail' }]
  const says = [calls(call('build', { n: 1 })), calls(call('mail:ask', { n: 2 })), completes()]
  const policy = { requiresApproval: ['build', 'mail:ask'] }
  const run = await tale({ says, tools: [build, ask], spec: { policy, secrets } }, folder.workspace)
  for (let end = await run.drive(); end.end === 'waiting' && end.for === 'approval'; end = await run.drive()) {
    const toolCallId = end.toolCallIds[0]!
    const { stage, argumentsHash } = callsOf(await run.state()).find(({ id }) => id === toolCallId)!
    if (stage.at !== 'approval') throw new Error('the call waits for no approval')
    const script = folder.files.get('build.sh')!
    const files: SeenFile[] = [
      { path: 'Makefile', content: 'absent' },
      { path: 'build.sh', content: sha256(script) },
      { path: 'lib', content: 'unreadable' },
    ]
    const hash = approvalHash({ id: toolCallId, argumentsHash }, stage.expiresAt, files)
    await run.tell({ kind: 'decide_approval', toolCallId, decision: 'approved', questionHash: hash, files })
    if (script === 'make') folder.files.set('build.sh', 'make all')
  }
  return run.log
}

/** Permissions: for a call, for a phase and for the run; rejected, used up, expired. */
export async function permissions() {
  const put = tool('put', { effect: 'idempotent' })
  const asks = (scope: string, until = '2h') =>
    calls(call('request_permission', { tool: 'put', scope, until, reason: `for the ${scope}` }))
  const puts = (n: number) => calls(call('put', { n }))
  const phases = ['one', 'two'].map((name) => ({ name, allowedTools: ['look'] }))
  const role = { name: 'r', profile: 'p', goal: 'g', phases, qualityGates: [], maxReactLoop: 20 }
  const advances = calls(call('advance_phase', { summary: 's' }))
  const later = () => {
    run.clock.time += 300_000
    return calls(call('look'))
  }
  const says = [
    ...[asks('call'), puts(1), asks('phase'), puts(2), advances, asks('run', '5m'), puts(3), later],
    ...[asks('run'), completes()],
  ]
  const policy = { mode: 'batch', deniedTools: ['put'] }
  const run = await tale({ says, tools: [put, tool('look')], spec: { role, policy, asksPermission: true } })
  for (const turn of [1, 3, 6, 9]) {
    await run.drive()
    const decision = turn === 9 ? 'rejected' : 'approved'
    await run.tell({ kind: 'decide_approval', toolCallId: run.call(turn), decision, reason: 'looked at it' })
  }
  await run.drive()
  return run.log
}

/** A revoked permission: a call that waits for its approval does not start. */
export async function revoked() {
  const put = tool('put', { effect: 'idempotent' })
  const asks = { tool: 'put', scope: 'run', until: '2h', reason: 'to save' }
  const asking = calls(call('request_permission', asks))
  const says = [asking, calls(call('put', { n: 1 })), asking, calls(call('put', { n: 2 })), completes()]
  const policy = { mode: 'batch', deniedTools: ['put'], requiresApproval: ['put'] }
  const run = await tale({ says, tools: [put], spec: { policy, asksPermission: true } })
  for (const [turn, why] of [
    [1, { reason: 'enough' }],
    [3, {}],
  ] as const) {
    await run.drive()
    await run.tell({ kind: 'decide_approval', toolCallId: run.call(turn), decision: 'approved' })
    await run.drive()
    await run.tell({ kind: 'revoke_permission', toolCallId: run.call(turn), ...why })
  }
  await run.drive()
  return run.log
}

/** Calls of a lost driver: a person states their outcomes three times, once for an ended run. */
export async function doubts() {
  const send = tool('send', { effect: 'irreversible', timeLimitMs: 2 ** 30 }, hang)
  const look = tool('look', { effect: 'pure', timeLimitMs: 2 ** 30 }, (_, { attempt }) =>
    attempt === 1 ? hang() : 'ok',
  )
  const sends = (n: number) => calls(call('send', { n }))
  const again = Promise.withResolvers<void>()
  const slow = () => again.promise.then(() => completes('too late'))
  const first = () => {
    again.resolve()
    return sends(1)
  }
  const says = [slow, first, sends(2), sends(3), calls(call('look')), sends(4)]
  const run = await tale({ says, tools: [send, look] })
  const started = (n: number) => until(() => send.ran.length === n)
  void run.drive()
  await until(() => run.requests.length === 1)
  void run.takeOver()
  await started(1)
  await run.takeOver()
  await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(1), decision: 'happened', result: { sent: 1 } })
  void run.takeOver()
  await started(2)
  await run.takeOver()
  await run.tell({
    kind: 'resolve_doubt',
    toolCallId: run.call(2),
    decision: 'abandon',
    reason: 'its outcome is unknown',
  })
  void run.takeOver()
  await started(3)
  await run.takeOver()
  await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(3), decision: 'run' })
  void run.takeOver()
  await started(4)
  await run.takeOver()
  await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(3), decision: 'happened' })
  void run.takeOver()
  await until(() => look.ran.length === 1)
  void run.takeOver()
  await started(5)
  await run.tell({ kind: 'cancel', deadlineMs: 100, reason: 'enough' })
  await run.takeOver()
  await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(5), decision: 'happened' })
  return run.log
}

/** Successful and failed outcomes of calls, and a model answer that arrives too late. */
export async function late() {
  const sent = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const answered = Promise.withResolvers<void>()
  const send = tool('send', { effect: 'irreversible', timeLimitMs: 2 ** 30 }, () => sent[send.ran.length - 1]!.promise)
  let asked = 0
  const answer = async () => {
    const nth = ++asked
    if (nth === 1) await answered.promise
    // Before the first driver, which has lost the agent, stops waiting for the answer.
    answered.resolve()
    return nth > 3 ? completes() : { ...calls(call('send', { nth })), requestId: `request ${nth}` }
  }
  const run = await tale({ says: [answer], tools: [send], spec: priced })
  const first = run.drive()
  await until(() => asked === 1)
  for (const [n, { resolve, reject }] of sent.entries()) {
    const driven = run.takeOver()
    await until(() => send.ran.length === n + 1)
    await run.takeOver()
    await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(n + 1), decision: 'abandon' })
    if (n === 0) resolve('at last')
    else reject(new Error('it broke in the end'))
    await driven
  }
  await run.takeOver()
  await first
  return run.log
}

/** Pause, step, resume, input during a run, keys without an effect, and the requests' authors. */
export async function people() {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const look = tool('look')
  const says = [
    calls(call('look', { n: 1 })),
    calls(call('look', { n: 2 })),
    calls(call('look', { n: 3 })),
    completes(),
  ]
  const run = await tale({ says, tools: [look] })
  await run.tell({ kind: 'pause', reason: 'lunch' }, { key: 'p1', correlationId: 'ticket 7', trace })
  await run.tell({ kind: 'pause' }, { key: 'p2' })
  await run.drive()
  await run.tell({ kind: 'input', text: 'And be quick.' }, { key: 'i1' })
  await run.tell({ kind: 'step' }, { key: 's1' })
  await run.drive()
  await run.tell({ kind: 'resume' }, { key: 'r1' })
  await run.drive()
  const start = { kind: 'start', spec: testSpec(), task: null, drive: true } as const
  await run.tell(start, { key: 'again' }, 'another')
  await run.tell(start, { key: 'again' }, 'another')
  return run.log
}

/** Waits for a condition while the clock is stopped. */
export async function until(happened: () => boolean): Promise<void> {
  for (let turns = 0; !happened(); turns++) {
    if (turns > 100_000) throw new Error('a golden history waits for what does not happen')
    await null
  }
}

/** Restores of files: successful, failed, lost midway, and of an ended run. */
export async function restores() {
  const run = await tale({ says: [calls(call('ask_user', { question: 'Good?' })), completes()] })
  await run.drive()
  const asks = (more: object = {}) =>
    run.runtime.execute(run.runId, { kind: 'restore', tree: 't1', replaces: 't2', ...more }, { by: ANN })
  const ends = async (restore: number, more: object = { outcome: 'restored' }) =>
    run.runtime.execute(run.runId, { kind: 'restore_ended', restore, ...more } as never, { by: ANN })
  await ends((await asks({ step: 1, reason: 'the test was right' })).revision)
  await ends((await asks()).revision, {
    outcome: 'failed',
    error: { code: 'CONFLICT', message: 'a file is in the way' },
  })
  await asks()
  await run.tell({ kind: 'input', text: 'Good.' })
  await run.drive()
  await ends((await asks({ step: 0 })).revision)
  return run.log
}
