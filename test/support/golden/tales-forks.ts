import { call, calls, completes, seededRandom, testModel } from '../harness.ts'
import { tool } from '../story.ts'
import { Folder } from './folder.ts'
import { tale } from './tale.ts'
import { until } from './tales-people.ts'

// Forked histories, and histories with erasures.

const price = { asOf: '2026-01-01', input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 }
const priced = { ...testModel, price }
const hang = () => new Promise<never>(() => undefined)

/** A fork in the middle of a turn, one of an ended run, and one of a fork; with and without changes. */
export async function forks() {
  const folder = new Folder({ a: '1' })
  const look = tool('look')
  const send = tool('send', { effect: 'irreversible', timeLimitMs: 2 ** 30 }, ({ n }) =>
    n === 2 && send.ran.length === 2 ? hang() : 'sent',
  )
  const models = {
    requested: 'test-model',
    safeDefault: 'test-model',
    known: [priced, { ...priced, id: 'other-model' }],
  }
  const both = calls(call('look', { n: 1 }, 'c1'), call('send', { n: 1 }, 'c2'))
  const alone = calls(call('send', { n: 2 }))
  const spec = { policy: { mode: 'batch' }, workspace: { path: '/project', tree: folder.snapshot() }, models }
  const run = await tale(
    { says: [both, alone, completes('first'), completes('second')], tools: [look, send], spec },
    folder.workspace,
  )
  void run.drive()
  await until(() => send.ran.length === 2)
  // The call of the second turn has started and its outcome is unknown here.
  const { revision } = await run.state()
  const tree = folder.snapshot()
  const open = await run.fork(run.runId, { revision }, { workspace: { path: '/project-2', tree }, drive: true }, 'k1')
  await run.driveOther(open)
  const changes = [
    { model: 'other-model', maxTurns: 9, budget: { tokens: 90_000, nanoDollars: null } },
    { budget: { nanoDollars: 9_000_000_000 } },
    { budget: { tokens: null } },
  ]
  for (const change of changes) await run.driveOther(await run.fork(open, { step: 2 }, change))
  const after = await run.fork(open, null, { workspace: { path: '/project-3', tree: null } })
  await run.driveOther(after)
  await run.tell({ kind: 'input', text: 'Once more.' }, {}, after)
  await run.driveOther(after)
  await run.tell({ kind: 'cancel', deadlineMs: 10 })
  await run.takeOver()
  return run.log
}

/** Erased bodies: one of a source, a range of its fork, all of another run, including large ones. */
export async function erased() {
  const long = 'the name of a patient, '.repeat(2_900)
  const look = tool('look', {}, ({ n }) => (n === 2 ? long : { said: 'a name' }))
  const answers = [
    calls(call('look', { n: 1 })),
    calls(call('look', { n: 2 })),
    calls(call('look', { n: 1 })),
    completes('A name.'),
  ]
  const run = await tale({
    says: answers,
    tools: [look],
    task: 'Find the name.',
    spec: { instructions: 'Look twice.' },
  })
  const erase = (runId: string, which: object) => run.tell({ kind: 'erase', reason: 'asked for', ...which }, {}, runId)
  await run.drive()
  const fork = await run.fork(run.runId, { turn: 1 })
  await run.driveOther(fork)
  const [found] = await run.of('tool_call_end')
  await erase(run.runId, { revision: found!.revision })
  await erase(fork, { revision: 0, to: 5 })
  const last = await run.fork(run.runId, { turn: 2 })
  await run.driveOther(last)
  await erase(run.runId, { all: true })
  const late = await run
    .elsewhere({ random: seededRandom('late') })
    .fork(run.runId, { turn: 1 }, {}, { by: { kind: 'user', id: 'bob' } })
  await run.driveOther(late.runId)
  return run.log
}
