import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import {
  decode,
  digest,
  type EventOf,
  eventSchema,
  eventTypes,
  fold,
  History,
} from '../../../api/library/events-kit.ts'
import { exportRun } from '../../../api/operations/events/export.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { freshFolders } from '../../support/folders.ts'

// Programs read the events of an export without a data folder: typed, folded, and compared with the recorded digests.

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
let runId = ''

const turns = Array.from({ length: 6 }, (_, n) => ({
  text: `step ${n}`,
  calls: [{ tool: 'set_context', arguments: { key: `k${n}`, value: 'x'.repeat(n === 3 ? 70_000 : 10) } }],
}))
const done = { calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] }

beforeAll(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({
    data: folders.data,
    by: 'ada',
    scripts: { work: { script: 1, turns: [...turns, done] } },
  })
  runId = (await keepup.start({ task: 'go', model: 'scripted:work' })).runId
  await keepup.drive(runId)
})
afterAll(async () => {
  await keepup.close()
  folders.remove()
})

const exported = async (run: string) =>
  (await Array.fromAsync(exportRun(keepup.services.log, keepup.services.blobs, run, [run]))).join('').split('\n')

async function agentEvents(): Promise<EventOf<'agent'>[]> {
  const history = await History.read(await exported(runId))
  const all = await Array.fromAsync(history.events(history.streams[0]!))
  return all.map(({ event }) => event as EventOf<'agent'>)
}

describe('a history', () => {
  it('has the typed events, and the recorded digest after each checkpoint', async () => {
    const history = await History.read(await exported(runId))
    expect(history.streams).toEqual([`agent-${runId}`])
    const all = await Array.fromAsync(history.events(`agent-${runId}`))
    const calls = all.flatMap(({ event }) => (event.type === 'tool_call_end' ? [event.body.success] : []))
    expect(calls).toHaveLength(7)
    const checkpoints = all.filter(({ sealed }) => sealed.header.digest !== undefined)
    expect(checkpoints.length).toBeGreaterThan(7)
    for (const { sealed } of checkpoints) {
      const at = await history.stateAt('agent', `agent-${runId}`, sealed.header.revision)
      expect(at?.digest).toBe(sealed.header.digest?.value)
    }
    for (const { event, sealed } of all)
      if (sealed.body !== null) expect(decode('agent', sealed.header, unsalted(sealed.body))).toEqual(event)
  })

  it('of a fork needs the export of its source', async () => {
    const { runId: fork } = await keepup.fork(runId, { at: { turn: 3 } })
    const alone = await History.read(await exported(fork))
    await expect(alone.stateAt('agent', `agent-${fork}`)).rejects.toThrow(`agent-${runId}`)
    const both = await History.read(await exported(runId), await exported(fork))
    const { state } = (await both.stateAt('agent', `agent-${fork}`))!
    expect(state.turn).toBe((await keepup.services.runtime.at(fork, null)).state.turn)
  })

  it('is refused where a line is missing', async () => {
    const lines = await exported(runId)
    await expect(History.read(lines.toSpliced(3, 1))).rejects.toThrow('not the next event')
    await expect(History.read(['{}'])).rejects.toThrow('line 1 has another shape')
    await expect(History.read([])).rejects.toThrow('it is empty')
  })

  it('has what an erasure leaves', async () => {
    const other = await keepup.start({ task: 'a secret plan', model: 'scripted:work' })
    await keepup.drive(other.runId)
    const before = (await (await History.read(await exported(other.runId))).stateAt('agent', `agent-${other.runId}`))!
    await keepup.eraseRun({ id: other.runId, code: 'subject_request', reason: 'asked', all: true })
    const history = await History.read(await exported(other.runId))
    const all = await Array.fromAsync(history.events(`agent-${other.runId}`))
    expect(all.some(({ sealed }) => sealed.erased)).toBe(true)
    expect(JSON.stringify(all.map(({ event }) => event))).not.toContain('a secret plan')
    const after = (await history.stateAt('agent', `agent-${other.runId}`))!
    expect(after.state.machine).toEqual(before.state.machine)
  })
})

describe('fold', () => {
  it('gives the same state for a prefix and then the rest', async () => {
    const events = await agentEvents()
    fc.assert(
      fc.property(fc.nat(events.length), (at) => {
        const first = fold('agent', events.slice(0, at))
        const whole = fold('agent', events.slice(at), first)!
        expect(digest('agent', whole)).toBe(digest('agent', fold('agent', events)!))
      }),
    )
  })
})

describe('schemas', () => {
  it('describe each type in the list, and are at the path that the list names', async () => {
    const { types } = await keepup.listEventTypes()
    expect(types.map(({ schema: _, ...one }) => one)).toEqual(eventTypes())
    for (const one of eventTypes())
      expect(await keepup.getEventSchema(one)).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `urn:keepup:event:${one.kind}:${one.type}:${one.version}`,
      })
    await expect(keepup.getEventSchema({ kind: 'agent', type: 'tool_call_end', version: 99 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  it('are the reference in the documentation', () => {
    const file = join(import.meta.dirname, '../../../api/docs/events.md')
    const text = readFileSync(file, 'utf8')
    const [before = '', , after = ''] = text.split(/<!-- (?:types|end) -->\n/)
    const written = `${before}<!-- types -->\n${reference()}<!-- end -->\n${after}`
    if (process.env.WRITE_REFERENCE) writeFileSync(file, written)
    else expect(text, 'run this test with WRITE_REFERENCE=1').toBe(written)
  })
})

/** A table of the types of each kind, with the members of their bodies. */
function reference(): string {
  const kinds = Map.groupBy(eventTypes(), ({ kind }) => kind)
  return [...kinds]
    .map(([kind, types]) => {
      const rows = types.map((one) => `| \`${one.type}\` | ${one.version} | ${membersOf(eventSchema(one)!)} |\n`)
      return `\n### ${kind}\n\n| type | version | members of the body |\n|---|---|---|\n${rows.join('')}`
    })
    .join('')
}

/** Members that may be absent have a question mark. */
function membersOf(schema: Readonly<Record<string, unknown>>): string {
  const choices = (schema.anyOf ?? schema.oneOf ?? [schema]) as { properties?: object; required?: string[] }[]
  return choices
    .map(({ properties = {}, required = [] }) =>
      Object.keys(properties)
        .map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``)
        .join(' '),
    )
    .join(' or ')
}
