import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventViews } from '../../../api/operations/events/view.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { comparedCheckpoints, rowsOfView } from '../../support/projections/checkpoint-view.ts'
import { world } from '../../support/projections/family.ts'
import { runs, tape } from '../../support/projections/fc.ts'
import { projected } from '../../support/projections/kit.ts'
import type { MemoryLog } from '../../support/projections/memory-log.ts'
import { postgresKit } from '../../support/projections/postgres-kit.ts'
import { tell } from '../../support/projections/tell.ts'

describeWithSharedPostgres('the seed’s tables in PostgreSQL', (server) => {
  const kit = postgresKit(server)

  it('events: every event of the log, with what the seed’s table lacks', async () => {
    const { log } = tell(fc.sample(tape, { numRuns: 6, seed: 5 }).flat())
    const tables = await kit.fresh()
    await projected(log, tables)
    const rows = await rowsOfView(tables, 'events')
    const views = new EventViews(log, log.blobs)
    expect(rows.map((row) => row.id)).toEqual(log.events.map((event) => event.position))
    for (const [i, row] of rows.entries()) {
      const { header, id } = log.events[i]!
      const person = header.actor.kind === 'user' || header.actor.kind === 'approver'
      const { payload } = await views.view(log.events[i]!)
      expect({ ...row, payload: row.payload === null ? null : JSON.parse(String(row.payload)) }).toEqual({
        id: log.events[i]!.position,
        thread_id: header.agentId,
        event_type: header.type,
        timestamp: header.timestamp,
        payload,
        event_id: id,
        stream: header.stream,
        run_id: header.runId,
        agent_id: person ? `user:${header.actor.id}` : header.agentId,
        turn: person ? 0 : header.turn,
        revision: header.revision,
        tool_call_id: header.toolCallId ?? null,
      })
    }
    expect(rows.filter((row) => row.payload === null).length).toBeGreaterThan(5)
    expect(rows.filter((row) => String(row.payload).includes('"arguments":{')).length).toBeGreaterThan(5)
  })

  it('events: the arguments that a call points to, however the model gave them, and the secrets in them', async () => {
    const { log, actor } = world()
    const secrets = [{ name: 'KEY', reference: 'secret:ku_1' }]
    const given = ['{"a":"\\u0000\\u202e","b":[1]}', '{"a":', '[1]', ' \n ', '"x"', '{"deep":{"n":1.50}}', '']
    const agent = actor('texts')
    agent.start()
    for (const text of given) {
      agent.beginTurn()
      agent.answer(['read_file'], { text, secrets })
      const start = {
        toolName: 'read_file',
        index: 0,
        argumentsRef: agent.given(0),
        argumentsHash: '0'.repeat(64),
        attempt: 1,
      }
      agent.write('tool_call_start', { ...start, effect: 'pure', intent: true }, { toolCallId: agent.calls[0]!.id })
      agent.endCall(agent.calls[0]!.id, 'read_file')
      agent.endTurn()
    }
    const tables = await kit.fresh()
    await projected(log, tables)
    const views = new EventViews(log, log.blobs)
    const rows = (await rowsOfView(tables, 'events')).filter((row) => row.event_type === 'tool_call_start')
    expect(rows).toHaveLength(given.length)
    for (const row of rows) {
      const { payload } = await views.view(log.events.find((event) => event.position === row.id)!)
      const shown = JSON.parse(String(row.payload).replaceAll('\\ufffd', '\\u0000'))
      expect(shown).toEqual(payload)
      expect(shown).toMatchObject({ secrets })
    }
  })

  it('events: the name that the model wrote for a tool that does not exist', async () => {
    const { log, actor } = world()
    const agent = actor('names')
    agent.start()
    agent.beginTurn()
    const [asked, known] = ['launch "rocket"', 'read_file']
    agent.answer([asked, known], { unknown: [asked] })
    for (const [index, toolName] of ['unknown', known].entries()) {
      const start = { toolName, index, argumentsRef: agent.given(index), argumentsHash: '0'.repeat(64), attempt: 1 }
      agent.write('tool_call_start', { ...start, effect: 'pure', intent: true }, { toolCallId: agent.calls[index]!.id })
    }
    const end = { step: 1, toolName: 'unknown', askedName: asked, attempt: 1, durationMs: 5 }
    const error = { code: 'RESOURCE_NOT_FOUND', message: `toolName "unknown"` }
    agent.write('tool_call_end', { ...end, success: false, error }, { toolCallId: agent.calls[0]!.id })
    const tables = await kit.fresh()
    await projected(log, tables)
    const views = new EventViews(log, log.blobs)
    const rows = (await rowsOfView(tables, 'events')).filter((row) => /^tool_call/.test(String(row.event_type)))
    const shown = rows.map((row) => JSON.parse(String(row.payload)))
    expect(shown.map(({ toolName }) => toolName)).toEqual([asked, known, asked])
    for (const [index, row] of rows.entries()) {
      const { payload } = await views.view(log.events.find((event) => event.position === row.id)!)
      expect(shown[index]).toEqual(payload)
    }
  })

  /** Compares each row of `checkpoints`; how many there were, of forks, and with a body before them erased. */
  async function compared(numbers: readonly number[]) {
    return comparedIn(tell(numbers).log)
  }

  async function comparedIn(log: MemoryLog) {
    const tables = await kit.fresh()
    await projected(log, tables)
    return comparedCheckpoints(tables, { log, blobs: log.blobs })
  }

  it('checkpoints: the seed’s columns, and in them what domain and queries say', async () => {
    const counts = await compared(Array.from({ length: 4500 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000))
    expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(5)
  })

  it('checkpoints with a final warning before a turn and in it, among inputs, and left behind by a fork', async () => {
    const { log, actor } = world()
    const warned = {
      phase: 'final_warning',
      reason: 'turns',
      maxTurns: 9,
      graceTurns: 2,
      deadlineMs: 9,
      warning: 'end',
    }
    for (const inTurn of [false, true]) {
      const agent = actor(`a${inTurn}`)
      agent.start()
      agent.user('user_input', { text: 'first' })
      if (inTurn) agent.beginTurn()
      agent.write('recovery', warned)
      agent.user('user_input', { text: 'second' })
      if (!inTurn) agent.beginTurn()
      agent.answer(['read_file'])
      agent.endCall(agent.calls[0]!.id, 'read_file')
      agent.endTurn()
      agent.beginTurn()
      agent.answer([])
      agent.endTurn('text')
    }
    const source = actor('source')
    source.start()
    source.user('user_input', { text: 'first' })
    source.beginTurn()
    source.answer([])
    source.endTurn()
    const { header, hash } = source.write('recovery', warned)
    const fork = actor('fork')
    fork.forkFrom(source, header.revision, hash)
    fork.user('user_input', { text: 'go on' })
    fork.beginTurn()
    fork.answer([])
    fork.endTurn()
    expect(await comparedIn(log)).toMatchObject({ rows: 8, forked: 1 })
  })

  it('checkpoints after a refusal that names a call, which was not taken up', async () => {
    const { log, actor } = world()
    const agent = actor('a')
    agent.start()
    agent.user('user_input', { text: 'first' })
    agent.beginTurn()
    agent.answer(['read_file'], { refused: true })
    agent.endTurn('refused')
    expect((await comparedIn(log)).rows).toBe(1)
  })

  it('checkpoints of any story (law)', () =>
    fc.assert(
      fc.asyncProperty(tape, async (n) => void (await compared(n))),
      runs(3),
    ))

  it('texts with an escaped NUL are kept to the letter and shown with a replacement', async () => {
    const { log, actor } = world()
    const agent = actor('a')
    const text = 'a\u0000b \\u0000 \\\u0000 "c"'
    agent.start()
    agent.user('user_input', { text })
    agent.beginTurn()
    agent.answer([])
    agent.endTurn('text')
    const tables = await kit.fresh()
    await projected(log, tables)
    const said = (await rowsOfView(tables, 'events')).find((row) => row.event_type === 'user_input')!
    expect(JSON.parse(String(said.payload))).toEqual({ text })
    const shown = text.replaceAll('\0', '\ufffd')
    expect((await tables.dump()).inputs).toMatchObject([{ preview: shown }])
    const [checkpoint] = await rowsOfView(tables, 'checkpoints')
    const { messages } = JSON.parse(String(checkpoint!.state_blob))
    expect(messages[0]).toEqual({ role: 'user', content: shown })
    expect(messages.at(-1)).toMatchObject({ role: 'system' })
  })
})
