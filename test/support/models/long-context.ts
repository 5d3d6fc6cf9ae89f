import type { ModelRequest } from '../../../domain/ports/index.ts'
import { call, calls, completes, harness, says, testModel, testSpec } from '../harness.ts'
import { tool } from '../story.ts'

export const LIMIT = 8_000

/** About three bytes per token, like a provider's count. */
export const used = (request: ModelRequest) => ({
  input: Math.ceil(JSON.stringify(request).length / 3),
  output: 20,
  cacheRead: 0,
  cacheWrite: 0,
})

export const isSummary = (request: ModelRequest) => request.tools.length === 0

interface Options {
  readonly turns?: number
  readonly bytes?: number
  readonly spec?: object
  readonly context?: object
  /** The usage that the provider reports. Default: about three bytes a token. */
  readonly reports?: (request: ModelRequest) => ReturnType<typeof used>
  readonly summary?: () => ReturnType<typeof says> | Error
}

/** A run whose results of `bytes` bytes fill its context, turn by turn. */
export async function long({
  turns = 16,
  bytes = 2_000,
  spec = {},
  context = {},
  summary,
  reports = used,
}: Options = {}) {
  let asked = 0
  const h = harness(
    (request) => {
      if (isSummary(request)) {
        const made = summary?.() ?? says(`summary ${request.messages[0]!.content.length}`)
        return made instanceof Error ? made : { ...made, usage: used(request) }
      }
      asked++
      const usage = reports(request)
      return asked <= turns ? { ...calls(call('look', { n: asked }, `c${asked}`)), usage } : { ...completes(), usage }
    },
    { tools: [tool('look', {}, (args) => `result ${args.n}: ${'x'.repeat(bytes)}`)] },
  )
  const models = {
    requested: 'test-model',
    safeDefault: 'test-model',
    known: [{ ...testModel, contextTokens: LIMIT, maxOutputTokens: 500 }],
  }
  const limits = { maxTurns: turns + 20, wallClockMs: null }
  const runId = await h.start(
    testSpec({ models, limits, readsOn: true, readsHistory: true, context, ...spec }, [...h.tools.values()]),
  )
  const end = await h.drive(runId)
  const turnsAsked = h.requests.filter((request) => !isSummary(request))
  const of = async (type: string) => (await h.events(runId)).filter((event) => event.type === type)
  return { h, runId, end, requests: turnsAsked, summaries: h.requests.filter(isSummary), of }
}
