import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ScriptInput } from '../../../adapters/models/scripted/script.ts'
import type { KeepUp } from '../../../api/library/keepup.ts'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { agentsOf } from '../../../api/operations/runs/agents-of.ts'
import { eraseRun } from '../../../api/operations/runs/erase-run.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { freshFolders } from '../../support/folders.ts'

// The erasure of a run with several agents, and holds on such runs.

const finish = (summary: string) => ({ calls: [{ tool: 'complete_task', arguments: { summary } }] })
const delegate = (task: string) => ({ tool: 'delegate_to_agent', arguments: { role: 'coder', task } })
const large = { tool: 'set_context', arguments: { key: 'k', value: 'x'.repeat(70_000) } }
const part = (word: string, turns: ScriptInput['turns']) => ({ name: word, when: { firstInputContains: word }, turns })
const scripts: Record<string, ScriptInput> = {
  team: {
    script: 1,
    turns: [{ calls: [delegate('left'), delegate('right')] }, finish('both')],
    parts: [part('left', [{ calls: [large] }, finish('l')]), part('right', [finish('r')])],
  },
  late: {
    script: 1,
    turns: [{ calls: [delegate('middle')] }, finish('done')],
    parts: [
      part('middle', [
        { calls: [{ tool: 'ask_user', arguments: { question: 'Go on?' } }] },
        { calls: [delegate('last')] },
        finish('middle'),
      ]),
      part('last', [finish('last')]),
    ],
  },
}

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
beforeAll(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({ data: folders.data, by: 'ann', scripts })
})
afterAll(async () => {
  await keepup.close()
  folders.remove()
})

const started = (script: string) =>
  keepup.start({ task: 'lead them', model: `scripted:${script}`, delegation: {}, policy: { mode: 'batch' } })
const asked = { what: { all: true, code: 'legal', reason: 'asked for' } as const, by: 'ann', options: {} }

/** The positions of the facts of erasures, and how many bodies are left, of an agent. */
async function erasedOf(agent: string) {
  const { log } = keepup.services
  const [facts, left]: [number[], number[]] = [[], []]
  for await (const page of log.read(agentStream(agent)))
    for (const { header, body, erased, position } of page) {
      if (header.type === 'erased') facts.push(position)
      else if (body !== null && !erased) left.push(header.revision)
    }
  return { facts, left }
}

it('erases the root of a run last, and goes on after a crash before the root', async () => {
  const { runId } = await started('team')
  await keepup.drive(runId)
  const { services } = keepup
  const agents = await agentsOf(services, runId)
  expect(agents).toHaveLength(3)
  const { runtime } = services
  const crashing = Object.create(runtime) as typeof runtime
  crashing.execute = (agentId, ...more) => {
    if (agentId === runId) throw new Error('crash')
    return runtime.execute(agentId, ...more)
  }
  await expect(eraseRun({ ...services, runtime: crashing }, runId, asked)).rejects.toThrow('crash')
  for (const agent of agents) expect((await erasedOf(agent)).facts.length > 0).toBe(agent !== runId)
  await eraseRun(services, runId, asked)
  const [root, ...others] = await Promise.all(agents.map(erasedOf))
  for (const other of others) {
    expect(other.facts).toHaveLength(1)
    expect(root!.facts[0]).toBeGreaterThan(other.facts[0]!)
  }
})

it('records what is erased before a large body is removed, and removes it when the erasure is repeated', async () => {
  const { runId } = await started('team')
  await keepup.drive(runId)
  const { services } = keepup
  const { blobs } = services
  const remove = blobs.delete.bind(blobs)
  const removed: string[] = []
  let crashes = true
  const factsAtFirst: number[] = []
  Object.assign(blobs, {
    delete: async (owner: string, hash: string) => {
      if (crashes) {
        for (const agent of await agentsOf(services, runId)) factsAtFirst.push((await erasedOf(agent)).facts.length)
        throw new Error('crash')
      }
      removed.push(hash)
      return remove(owner, hash)
    },
  })
  try {
    await expect(eraseRun(services, runId, asked)).rejects.toThrow('crash')
    expect(factsAtFirst).toContain(1)
    crashes = false
    await eraseRun(services, runId, asked)
    expect(removed.length).toBeGreaterThan(0)
    for (const hash of removed) expect(await blobs.get(runId, hash).catch(() => null)).toBeNull()
  } finally {
    Object.assign(blobs, { delete: remove })
  }
})

it('holds agents that were started after the hold, also those of the run that a held fork continues', async () => {
  const { services } = keepup
  const { runId } = await started('late')
  await keepup.drive(runId)
  const { head } = await services.runtime.at(runId, null)
  const fork = await keepup.fork(runId, { at: { revision: head.revision } })
  const by = { kind: 'user', id: 'ann' } as const
  const hold = (id: string, run: string) =>
    services.keeping.change(
      { kind: 'set_hold', hold: id, of: agentStream(run), reason: 'a matter' },
      { by, commandId: `hold:${id}` },
    )
  await hold('00000001', fork.runId)
  const [, middle] = await agentsOf(services, runId)
  await keepup.say(middle!, { kind: 'input', text: 'yes' })
  await keepup.drive(runId)
  const [, , last] = await agentsOf(services, runId)
  expect(last).toBeDefined()
  const refused = () => eraseRun(services, runId, { ...asked, agent: last })
  await expect(refused()).rejects.toThrow('the hold 00000001 keeps')
  await services.keeping.change({ kind: 'lift_hold', hold: '00000001', reason: 'x' }, { by, commandId: 'lift' })
  await hold('00000002', runId)
  await expect(refused()).rejects.toThrow('the hold 00000002 keeps')
})
