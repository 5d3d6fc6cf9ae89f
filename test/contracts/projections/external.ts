import { describe, expect, it, onTestFinished } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { annotation } from '../../../domain/annotation/aggregate.ts'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import { external } from '../../../domain/external/aggregate.ts'
import type { OtlpSpan } from '../../../domain/external/reported/otlp-span.ts'
import { AgentGateway } from '../../../domain/external/runtime/gateway.ts'
import { ReportedRuns } from '../../../domain/external/runtime/reported-runs.ts'
import { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { externalStream, reportedRunId } from '../../../domain/log/ids.ts'
import { erase } from '../../../domain/stream/runtime/erasure/erase.ts'
import { Streams } from '../../../domain/stream/runtime/streams.ts'
import { agedSubjects } from '../../../projections/access/queries.ts'
import { costBy } from '../../../projections/agent/queries/cost.ts'
import { runFigures } from '../../../projections/agent/queries/metrics.ts'
import { showRun } from '../../../projections/agent/queries/run.ts'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import { usageBy } from '../../../projections/agent/queries/usage.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { dueBefore } from '../../../projections/engine/queries/due.ts'
import { ENDED, Puppet } from '../../support/external/in-process.ts'
import { chat, otlpSpan, stored, TRACE, tool } from '../../support/external/otlp-spans.ts'
import { MemoryBlobs, MemoryIntents } from '../../support/harness.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import { standing } from '../../support/time/standing-clock.ts'

/** A time of a clock that was not set, in ns. */
const EARLY = BigInt(Date.UTC(2016, 0, 1)) * 1_000_000n
const ANN = { kind: 'user', id: 'ann' } as const
const USAGE = {
  scope: 'run',
  inputTokens: 90,
  cachedInputTokens: 40,
  outputTokens: 5,
  model: 'model-x',
  cost: { nanoDollars: 1_500_000_000, scope: 'run' },
} as const

async function told(kit: TablesKit) {
  const log = new MemoryLog({ clock: BEFORE })
  const clock = standing(Date.UTC(2026, 0, 18))
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn % 251) }
  const ports = { log, clock, random, blobs: new MemoryBlobs(), intents: new MemoryIntents(), build: 'test' }
  const puppet = new Puppet()
  const runs = new StreamExternalLog(ports)
  const gateway = new AgentGateway({ log: runs, clock, backends: [puppet.backend] })
  const tables = await kit.fresh()
  const open = async (into = tables) => {
    const store = await into.open()
    const projector = new Projector({ log, blobs: ports.blobs, store })
    onTestFinished(() => store.close())
    await projector.catchUp()
    return projector
  }
  const lineage = async () => (await tables.db.selectFrom('agent_lineage').selectAll().execute())[0]!
  return { ports, runs, puppet, gateway, tables, open, lineage }
}

/** How external runs appear in the tables (CONTRACTS 13): in lineage, lists and bills, marked as ungoverned. */
export function externalContract(kit: TablesKit): void {
  describe('an external run', () => {
    it('is in the lineage with status, usage and cost, in the list of runs and on the bill, ungoverned', async () => {
      const { gateway, puppet, tables, open, lineage } = await told(kit)
      const run = await gateway.run('fake', { prompt: 'do it', workingDir: '/work', timeoutMs: 1_000 }, { by: ANN })
      await puppet.text('some', 'words')
      const projector = await open()
      // It goes on by itself: no driver of keepup's own agents is to wake it.
      expect(await dueBefore(tables.db, null)).toEqual([])
      expect(await lineage()).toMatchObject({ status: 'active', ungoverned: 1, backend: 'fake', completed_at: null })
      await puppet.emit({ usage: USAGE })
      puppet.exit()
      await run.completion
      await projector.catchUp()
      expect(await lineage()).toMatchObject({
        ...{ id: run.agentId, run_id: run.agentId, parent_agent_id: null, depth: 0, status: 'completed', code: null },
        ...{ usage_input_tokens: 90, usage_output_tokens: 5, usage_cost: 1.5, unpriced_calls: 0 },
      })
      const { runs } = await selectRuns(tables.db)
      expect(runs).toMatchObject([
        {
          ...{ id: run.agentId, status: 'completed', backend: 'fake', created_by: 'user:ann', workspace: '/work' },
          ...{ task: 'do it', summary: 'done', machineState: 'DONE', waiting: [] },
        },
      ])
      const artifacts = await tables.db.selectFrom('artifacts').selectAll().execute()
      expect(artifacts).toMatchObject([
        {
          ...{ id: `${run.agentId}/final_text`, run_id: run.agentId, artifact_type: 'report', content: 'done' },
          ...{ title: 'final text', claimed: 0, registered_with: null, checkpoint_id: null },
        },
      ])
      expect([...(await usageBy(tables.db, 'model', [run.agentId]))]).toMatchObject([['model-x', { output: 5 }]])
      expect((await showRun(tables.db, run.agentId))!.tree).toMatchObject([{ agent: { ungoverned: 1 } }])
    })

    it('is found by the files that its agent reports to have edited, by their relative or absolute path', async () => {
      const { gateway, puppet, tables, open } = await told(kit)
      const run = await gateway.run('fake', { prompt: 'do it', workingDir: '/srv' }, { by: ANN })
      const reported = (kind: 'ToolCall' | 'ToolResult', data: AgentEventBody['data'] & {}) =>
        puppet.emit({ events: [{ kind, data }] })
      const texts = { old_string: 'a', new_string: 'b' }
      await reported('ToolCall', { id: 't1', name: 'Edit', input: { file_path: '/srv/src/a.ts', ...texts } })
      await reported('ToolCall', { id: 't2', name: 'Read', input: { file_path: '/srv/src/read.ts' } })
      await reported('ToolCall', { name: 'Write', input: { file_path: 'b.ts', content: 'b' } })
      await reported('ToolResult', { id: 't3', success: true, patch: '--- a/c.ts\n+++ b/c.ts\n@@ -0,0 +1 @@\n+c\n' })
      puppet.exit()
      await run.completion
      await open()
      const found = async (file: string) => (await selectRuns(tables.db, { file })).runs.map(({ id }) => id)
      for (const file of ['src/a.ts', '/srv/src/a.ts', 'b.ts', './b.ts', '/srv/b.ts', 'c.ts', '/srv/c.ts'])
        expect(await found(file), file).toEqual([run.agentId])
      for (const file of ['a.ts', '/src/a.ts', '/other/src/a.ts', 'src/read.ts'])
        expect(await found(file), file).toEqual([])
    })

    it('that was cancelled, or whose end was not seen, has failed with a code that says so', async () => {
      const cancelled = await told(kit)
      const run = await cancelled.gateway.run('fake', { prompt: 'go' })
      run.cancel('enough', ANN)
      await run.completion.catch(() => undefined)
      await cancelled.open()
      expect(await cancelled.lineage()).toMatchObject({ status: 'failed', code: 'CANCELLED' })

      const lost = await told(kit)
      const { agentId } = await lost.gateway.run('fake', { prompt: 'go' })
      await lost.puppet.emit({ usage: USAGE })
      await new Promise(setImmediate)
      await lost.runs.settle(agentId, 0)
      await lost.open()
      expect(await lost.lineage()).toMatchObject({
        ...{ status: 'failed', code: 'UNKNOWN_OUTCOME', in_doubt_tokens: 95, in_doubt_nano_dollars: 1_500_000_000 },
      })
    })

    it('is on the bill with each model that it used', async () => {
      const { gateway, puppet, tables, open, lineage } = await told(kit)
      const run = await gateway.run('fake', { prompt: 'go' }, { by: ANN })
      const of = (model: string, inputTokens: number, nanoDollars: number | null) => ({
        ...{ model, inputTokens, cachedInputTokens: 1, outputTokens: 2, nanoDollars },
      })
      await puppet.emit({
        usage: {
          ...USAGE,
          models: { scope: 'run', each: [of('large', 10, 7), of('small', 5, null), of('tiny', 1, 3)] },
        },
      })
      const projector = await open()
      const byModel = async () => usageBy(tables.db, 'model', [run.agentId])
      const before = await byModel()
      expect(before.get('large')).toMatchObject({ calls: 1, input: 9, cacheRead: 1, output: 2, nanoDollars: 7 })
      // The costs of the models add up to that of the run.
      expect(before.get('small')).toMatchObject({ calls: 1, input: 4, nanoDollars: 1_500_000_000 - 10, unpriced: 0 })
      expect(before.get('tiny')).toMatchObject({ calls: 1, nanoDollars: 3 })
      expect(await lineage()).toMatchObject({ usage_cost: 1.5, unpriced_calls: 0 })
      await puppet.emit({
        usage: { ...USAGE, cost: null, models: { scope: 'run', each: [of('large', 10, 7), of('small', 5, null)] } },
      })
      puppet.exit()
      await run.completion
      await projector.catchUp()
      // A later report replaces the one before it.
      const after = await byModel()
      expect([...after.keys()].sort()).toEqual(['large', 'small'])
      expect(after.get('small')).toMatchObject({ nanoDollars: 0, unpriced: 1 })
      expect(await lineage()).toMatchObject({ usage_output_tokens: 4, unpriced_calls: 1 })
    })

    it('of a request with a price has this cost although its models tell none', async () => {
      const { gateway, puppet, open, lineage } = await told(kit)
      const price = { asOf: 'd', input: 2_000_000, output: 4_000_000, cacheRead: 1_000_000, cacheWrite: 0 }
      const run = await gateway.run('fake', { prompt: 'go' }, { by: ANN, price })
      const of = (model: string, inputTokens: number) => ({
        ...{ model, inputTokens, cachedInputTokens: 0, outputTokens: 1, nanoDollars: null },
      })
      const each = [of('pro', 6), of('flash', 4)]
      const usage = { scope: 'run', inputTokens: 10, cachedInputTokens: 0, outputTokens: 2, cost: null } as const
      await puppet.emit({ usage: { ...usage, models: { scope: 'run', each } } })
      puppet.exit()
      await run.completion
      await open()
      expect(await lineage()).toMatchObject({ nano_dollars: 28, unpriced_calls: 0 })
    })

    it('has the same rows after a rebuild, with its bodies erased or not', async () => {
      const { ports, gateway, puppet, tables, open } = await told(kit)
      const run = await gateway.run('fake', { prompt: 'a private word' }, { by: ANN })
      await puppet.emit({ usage: USAGE, sessionId: 's1' })
      const input = { file_path: 'private.ts', content: 'x' }
      await puppet.emit({ events: [{ kind: 'ToolCall', data: { id: 't1', name: 'Write', input } }] })
      puppet.exit({ ...ENDED, finalText: 'the last private word' })
      await run.completion
      const projector = await open()
      const rebuilt = async () => {
        const fresh = await kit.fresh()
        await open(fresh)
        return fresh.dump()
      }
      expect(await rebuilt()).toEqual(await tables.dump())
      const asker = { by: ANN, commandId: 'e1' }
      const what = { all: true, reason: 'asked to' } as const
      await erase(ports, external, externalStream(run.agentId), what, asker, { forget: async () => {} })
      await projector.catchUp()
      const dump = await tables.dump()
      expect(JSON.stringify(dump)).not.toContain('private')
      expect(dump.agents).toMatchObject([{ status: 'completed', backend: 'fake', ungoverned: 1 }])
      expect(dump.model_calls).toMatchObject([{ output: 5 }])
      expect(dump.artifact_rows).toEqual([])
      expect(await rebuilt()).toEqual(dump)
    })

    it('whose agent tells no usage has an unknown usage, alone and in the total of its tree', async () => {
      const { gateway, puppet, tables, open, lineage } = await told(kit)
      const run = await gateway.run('fake', { prompt: 'go' })
      puppet.exit()
      await run.completion
      await open()
      const unknown = { usage_input_tokens: null, usage_output_tokens: null, usage_cost: null, nano_dollars: null }
      expect(await lineage()).toMatchObject({ ...unknown, unpriced_calls: 1 })
      expect(await tables.db.selectFrom('agent_lineage_totals').selectAll().execute()).toMatchObject([
        { total_input_tokens: null, total_output_tokens: null, total_cost: null, total_nano_dollars: null },
      ])
      const { runs } = await selectRuns(tables.db)
      expect(runs).toMatchObject([{ usage: { calls: 1, untold: 1, unpriced: 1 } }])
    })

    it('that tells tokens without a cost has these tokens and no known cost', async () => {
      const { gateway, puppet, open, lineage } = await told(kit)
      const run = await gateway.run('fake', { prompt: 'go' })
      await puppet.emit({ usage: { ...USAGE, cost: null } })
      puppet.exit()
      await run.completion
      await open()
      expect(await lineage()).toMatchObject({ usage_input_tokens: 90, usage_output_tokens: 5, usage_cost: null })
    })

    it('has the model that was asked for on its bill where the agent names none', async () => {
      const { gateway, puppet, tables, open } = await told(kit)
      ;(puppet.backend.capabilities as string[]).push('agent_api.config.model.v1')
      const run = await gateway.run('fake', { prompt: 'go', extensions: { 'agent_api.config.model.v1': 'model-y' } })
      const { model: _, ...usage } = USAGE
      await puppet.emit({ usage })
      puppet.exit()
      await run.completion
      await open()
      expect([...(await usageBy(tables.db, 'model', [run.agentId]))]).toMatchObject([['model-y', { output: 5 }]])
      expect((await selectRuns(tables.db)).runs).toMatchObject([{ model: 'model-y' }])
    })

    it('that has resumed a session shows no figures of that session as its own', async () => {
      const { gateway, puppet, open, lineage } = await told(kit)
      const resumed = { 'agent_api.session.resume.v1': { selector: 'last' } } as const
      ;(puppet.backend.capabilities as string[]).push('agent_api.session.resume.v1')
      const run = await gateway.run('fake', { prompt: 'go', extensions: resumed })
      await puppet.emit({ usage: { ...USAGE, scope: 'session', cost: { nanoDollars: 7, scope: 'session' } } })
      puppet.exit()
      await run.completion
      await open()
      expect(await lineage()).toMatchObject({ usage_input_tokens: null, usage_output_tokens: null, nano_dollars: null })
    })
  })

  describe('a run that a program reports over OTLP', () => {
    const traced = async () => {
      const all = await told(kit)
      const reports = new ReportedRuns(all.ports)
      const send = (...spans: readonly OtlpSpan[]) =>
        reports.report(
          TRACE,
          spans.map((span) => stored(span)),
          ANN,
        )
      const calls = () =>
        all.tables.db
          .selectFrom('model_calls')
          .select(['model', 'status', 'input', 'cache_read', 'output', 'nano_dollars', 'duration_ms', 'started_at'])
          .execute()
      return { ...all, reports, send, calls, id: reportedRunId(ANN.id, TRACE) }
    }

    it('has the times and figures of its spans, whatever the clock of the log says', async () => {
      const { send, open, calls, tables, lineage, id } = await traced()
      const cached = { ...chat('m', 10, 5), 'gen_ai.usage.cache_read.input_tokens': 4 }
      await send(otlpSpan(2, 1, { attributes: cached }), otlpSpan(3, 1, { attributes: tool('search'), endNano: 0n }))
      const projector = await open()
      expect(await lineage()).toMatchObject({ status: 'active', backend: 'otlp', ungoverned: 1, completed_at: null })
      expect(await dueBefore(tables.db, null)).toEqual([])
      const started = '2026-09-21T14:13:20.00'
      expect(await calls()).toEqual([
        {
          ...{ model: 'm', status: 'answered', input: 6, cache_read: 4, output: 5, nano_dollars: 16 },
          ...{ duration_ms: 1_000, started_at: `${started}2Z` },
        },
      ])
      await send(otlpSpan(3, 1, { attributes: tool('search'), status: { code: 2, message: 'no luck' } }))
      await send(otlpSpan(1, null, { attributes: { 'input.value': 'find it' } }))
      await projector.catchUp()
      expect(await lineage()).toMatchObject({
        ...{ status: 'completed', role: 'shop', created_at: `${started}1Z`, completed_at: '2026-09-21T14:13:21.003Z' },
        ...{ usage_input_tokens: 10, usage_output_tokens: 5, nano_dollars: 16 },
      })
      expect((await selectRuns(tables.db)).runs).toMatchObject([
        { id, task: 'find it', toolCalls: 1, created_by: 'user:ann', ended_at: '2026-09-21T14:13:21.003Z' },
      ])
      expect(await tables.db.selectFrom('tool_calls').select(['tool_name', 'status', 'code']).execute()).toEqual([
        { tool_name: 'search', status: 'failed', code: 'error' },
      ])
    })

    it('has one call where two instrumentations report it, also if the outer one arrives first', async () => {
      const { send, open, calls } = await traced()
      await send(otlpSpan(2, 1, { attributes: chat('m', 10, 5) }))
      const projector = await open()
      expect(await calls()).toHaveLength(1)
      await send(otlpSpan(3, 2, { attributes: chat('m', 11, 5) }))
      await projector.catchUp()
      expect(await calls()).toMatchObject([{ model: 'm', input: 11 }])
    })

    it('counts for no tool, and names of its program are no labels of metrics', async () => {
      const { send, open, tables } = await traced()
      await send(otlpSpan(1, null), otlpSpan(2, 1, { attributes: chat('m', 10, 5) }))
      await send(otlpSpan(3, 1, { attributes: tool('search') }))
      await open()
      expect((await costBy(tables.db, 'tool', {})).rows).toMatchObject([
        { name: '', sum: { calls: 1, nanoDollars: 20 } },
      ])
      expect(await runFigures(tables.db, [])).toMatchObject({
        runs: [{ role: 'otlp', count: 1 }],
        modelCalls: [{ model: 'm', reported: 1, input: 10, nanoDollars: 20 }],
        toolCalls: [{ tool: 'otlp', outcome: 'succeeded', count: 1 }],
      })
    })

    it('cannot stop sums with false figures', async () => {
      const { send, open, tables } = await traced()
      await send(...[1, 2, 3].map((n) => otlpSpan(n, null, { attributes: chat('m', 10, 5) })))
      await open()
      await tables.alter('update model_calls set nano_dollars = 9000000000000000, input = 9000000000000000')
      expect((await costBy(tables.db, 'model', {})).total).toMatchObject({ input: 2.7e16, nanoDollars: 2.7e16 })
      expect((await runFigures(tables.db, [])).modelCalls).toMatchObject([{ nanoDollars: 2.7e16 }])
    })

    it('belongs to its sender: the same trace of another one is another run', async () => {
      const { send, reports, open, tables, id } = await traced()
      await send(otlpSpan(1, null))
      await reports.report(TRACE, [stored(otlpSpan(2, 1, { attributes: chat('m', 10, 5) }))], {
        kind: 'user',
        id: 'bob',
      })
      await open()
      const runs = await tables.db.selectFrom('runs').select(['id', 'created_by']).orderBy('created_by').execute()
      expect(runs).toEqual([
        { id, created_by: 'user:ann' },
        { id: reportedRunId('bob', TRACE), created_by: 'user:bob' },
      ])
    })

    it('that a person closes ends at that time, by the clock of the log', async () => {
      const { send, runs, open, lineage, id } = await traced()
      await send(otlpSpan(2, 1))
      await runs.ask(id, { kind: 'cancel', reason: 'enough' }, { by: ANN, commandId: 'c1' })
      await open()
      expect(await lineage()).toMatchObject({ status: 'failed', completed_at: '2026-01-18T00:00:00.000Z' })
    })

    it('has an unknown usage if a call reports none', async () => {
      const { send, open, lineage } = await traced()
      await send(otlpSpan(1, null, { attributes: { 'gen_ai.operation.name': 'chat' } }))
      await open()
      expect(await lineage()).toMatchObject({ usage_input_tokens: null, nano_dollars: null, unpriced_calls: 1 })
    })

    it('has the same rows after a rebuild, with its bodies erased or not', async () => {
      const { ports, send, open, tables, id } = await traced()
      const words = { 'input.value': 'a private word', 'output.value': 'another private word' }
      const failed = { attributes: { ...tool('search'), ...words }, status: { code: 2, message: 'a private reason' } }
      await send(otlpSpan(2, 1, failed), otlpSpan(3, 1, { attributes: { ...chat('m', 10, 5), ...words } }))
      await send(otlpSpan(1, null, { attributes: words }))
      const projector = await open()
      const rebuilt = async () => {
        const fresh = await kit.fresh()
        await open(fresh)
        return fresh.dump()
      }
      expect(await rebuilt()).toEqual(await tables.dump())
      const what = { all: true, reason: 'asked to' } as const
      await erase(ports, external, externalStream(id), what, { by: ANN, commandId: 'e1' }, { forget: async () => {} })
      await projector.catchUp()
      const dump = await tables.dump()
      expect(JSON.stringify(dump)).not.toContain('private')
      expect(dump.model_calls).toMatchObject([{ model: 'm', output: 5, erased: 1 }])
      expect(await rebuilt()).toEqual(dump)
    })

    it('without a root is kept from its last report, and an erasure leaves the spans after that', async () => {
      const { ports, send, open, tables, id } = await traced()
      const words = (n: number) => otlpSpan(n, 1, { attributes: { 'input.value': `private ${n}` } })
      await send(words(2))
      const projector = await open()
      const which = { before: '2026-01-19T00:00:00.000Z', after: null, by: 'x', limit: 9 }
      const [aged] = await agedSubjects(tables.db, 'external', which)
      expect(aged).toMatchObject({ id, since: '2026-01-18T00:00:00.000Z', revision: 1 })
      await send(words(3))
      const what = { all: true, to: aged!.revision!, reason: 'too old' } as const
      await erase(ports, external, externalStream(id), what, { by: ANN, commandId: 'e1' }, { forget: async () => {} })
      await projector.catchUp()
      const texts: string[] = []
      for await (const page of ports.log.read(externalStream(id)))
        texts.push(...page.map(({ body }) => Buffer.from(body ?? []).toString()))
      const said = (n: number) => texts.some((text) => text.includes(`private ${n}`))
      expect([said(2), said(3)]).toEqual([false, true])
    })

    it('is kept by the clock of the log, which the clock of its program cannot change', async () => {
      const { send, open, tables, id } = await traced()
      await send(otlpSpan(1, null, { startNano: EARLY, endNano: EARLY + 1_000n }))
      await open()
      const aged = (before: string) => agedSubjects(tables.db, 'external', { before, after: null, by: 'x', limit: 9 })
      expect(await aged('2026-01-17T00:00:00.000Z')).toEqual([])
      expect(await aged('2026-01-19T00:00:00.000Z')).toMatchObject([{ id }])
    })

    it('has tags and notes that are as old as their last change, and no older than its last report', async () => {
      const { send, open, ports, tables, id } = await traced()
      await send(otlpSpan(1, null, { startNano: EARLY, endNano: EARLY + 1_000n }))
      const projector = await open()
      const aged = (before: string) =>
        agedSubjects(tables.db, 'external annotations', { before, after: null, by: 'x', limit: 9 })
      expect(await aged('2026-01-30T00:00:00.000Z')).toEqual([])
      const tagged = async (tag: string, day: number) => {
        const clock = standing(Date.UTC(2026, 0, day))
        const streams = new Streams({ ...ports, clock, hide: async (value) => value }, AGGREGATES)
        await streams.submit(annotation, id, { kind: 'add_tag', tag }, { by: ANN, commandId: tag })
        await projector.catchUp()
      }
      await tagged('early', 18)
      expect(await aged('2026-01-18T00:00:00.000Z')).toEqual([])
      expect(await aged('2026-01-19T00:00:00.000Z')).toMatchObject([{ id, revision: 0 }])
      await tagged('late', 20)
      expect(await aged('2026-01-20T00:00:00.000Z')).toEqual([])
      const since = '2026-01-20T00:00:00.000Z'
      expect(await aged('2026-01-21T00:00:00.000Z')).toEqual([{ id, stream: `annotation-${id}`, since, revision: 1 }])
    })
  })
}
