import type { LanguageModelMiddleware } from 'ai'
import type { Usage } from '../../../domain/calls/content.ts'
import type { HostedRun, ModelAsked, ModelOutcome } from '../../../domain/external/runtime/hosted-run.ts'
import type { Json, JsonObject } from '../../../domain/log/json.ts'
import { fromTagged, toTagged } from './tagged-json.ts'

type WrapGenerate = NonNullable<LanguageModelMiddleware['wrapGenerate']>
type Generated = Awaited<ReturnType<WrapGenerate>>
type Around = Parameters<WrapGenerate>[0]
type Streamed = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>
type Part = Streamed['stream'] extends ReadableStream<infer P> ? P : never
type Answered = Extract<ModelOutcome, { outcome: 'answered' }>

/**
 * Records each model call before and after it. A request with a recorded answer gets that answer, so a program that starts
 * again pays for no call twice.
 */
export function middlewareOf(run: HostedRun): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    async wrapGenerate({ doGenerate, params, model }) {
      const call = await run.model(askedOf('generate', params, model))
      if ('recorded' in call) return fromTagged(call.recorded) as Generated
      let result: Generated
      try {
        result = await doGenerate()
      } catch (error) {
        await call.ended({ outcome: params.abortSignal?.aborted ? 'aborted' : 'failed', error })
        throw error
      }
      await call.ended(generated(result))
      return result
    },
    async wrapStream({ doStream, params, model }) {
      const call = await run.model(askedOf('stream', params, model))
      if ('recorded' in call) return { stream: streamOf(fromTagged(call.recorded) as Part[]) }
      try {
        const { stream, ...rest } = await doStream()
        return { ...rest, stream: recorded(stream, call.ended, () => params.abortSignal?.aborted === true) }
      } catch (error) {
        await call.ended({ outcome: params.abortSignal?.aborted ? 'aborted' : 'failed', error })
        throw error
      }
    },
  }
}

/** Headers can contain a key, and the signal belongs to this process, so neither is a part of the request. */
function askedOf(type: string, params: Around['params'], { provider, modelId }: Around['model']): ModelAsked {
  const { prompt, tools = [], headers: _, abortSignal: __, includeRawChunks: ___, ...settings } = params
  return {
    ...{ provider, model: modelId },
    settings: toTagged({ type, ...settings }) as JsonObject,
    tools: toTagged(tools) as Json[],
    messages: toTagged(prompt) as Json[],
  }
}

/** The bodies and headers of requests and responses repeat the content, and can contain keys. */
function generated(result: Generated): Answered {
  const { request: _, response, ...rest } = result
  const { headers: __, body: ___, ...about } = response ?? {}
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return answeredBy(toTagged({ ...rest, response: about }), texts.join(''), result.usage, response?.modelId)
}

function answeredBy(answer: Json, text: string, used: Generated['usage'], model: string | undefined): Answered {
  const usage = usageOf(used)
  return {
    ...{ outcome: 'answered', answer, text },
    ...(usage !== undefined && { usage }),
    ...(model !== undefined && { model }),
  }
}

/** Undefined: the provider does not report the tokens. */
function usageOf({ inputTokens, outputTokens }: Generated['usage']): Usage | undefined {
  const { total, noCache, cacheRead = 0, cacheWrite = 0 } = inputTokens
  if ((total === undefined && noCache === undefined) || outputTokens.total === undefined) return undefined
  const input = noCache ?? Math.max(0, (total ?? 0) - cacheRead - cacheWrite)
  return { input, output: outputTokens.total, cacheRead, cacheWrite }
}

function streamOf(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

/**
 * The parts of a stream as they arrive. The last part passes on when the outcome is in the log, so nothing acts on an
 * answer that is not recorded.
 */
function recorded(
  stream: ReadableStream<Part>,
  ended: (outcome: ModelOutcome) => Promise<void>,
  isAborted: () => boolean,
): ReadableStream<Part> {
  const reader = stream.getReader()
  const parts: Part[] = []
  let isOver = false
  const end = async (outcome: ModelOutcome) => {
    if (isOver) return
    isOver = true
    await ended(outcome)
  }
  return new ReadableStream<Part>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          await end({
            outcome: isAborted() ? 'aborted' : 'failed',
            error: 'the stream ended before the answer was complete',
          })
          controller.close()
          return
        }
        if (value.type === 'error') await end({ outcome: 'failed', error: value.error })
        keep(parts, value)
        if (value.type === 'finish') await end(finished(parts, value.usage))
        controller.enqueue(value)
      } catch (error) {
        await end({ outcome: isAborted() ? 'aborted' : 'failed', error })
        controller.error(error)
      }
    },
    async cancel(reason) {
      await end({ outcome: 'aborted', error: reason ?? 'the program did not wait for the answer' })
      await reader.cancel(reason)
    },
  })
}

/**
 * Takes a part of the answer. Pieces of one text become one part, so that no secret is in two of them. What a provider
 * adds to a piece stays after it.
 */
function keep(parts: Part[], part: Part): void {
  if (part.type === 'raw' || part.type === 'ping') return
  if (!isPiece(part)) {
    parts.push(part)
    return
  }
  const start = parts.findLastIndex((one) => one.type === STARTS[part.type] && one.id === part.id)
  const isOfText = (one: Part, index: number) =>
    index > start && one.type === part.type && one.id === part.id && one.providerMetadata === undefined
  const at = parts.findIndex(isOfText)
  const text = parts[at]
  if (text === undefined || !isPiece(text)) {
    parts.push(part)
    return
  }
  parts[at] = { ...text, delta: text.delta + part.delta }
  if (part.providerMetadata !== undefined) parts.push({ ...part, delta: '' })
}

const STARTS = {
  'text-delta': 'text-start',
  'reasoning-delta': 'reasoning-start',
  'tool-input-delta': 'tool-input-start',
} as const

const isPiece = (part: Part): part is Extract<Part, { type: keyof typeof STARTS }> => Object.hasOwn(STARTS, part.type)

function finished(parts: readonly Part[], usage: Generated['usage']): Answered {
  const text = parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : [])).join('')
  const about = parts.find((part) => part.type === 'response-metadata')
  return answeredBy(toTagged(parts), text, usage, about?.modelId)
}
