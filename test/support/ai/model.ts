import type { LanguageModelMiddleware } from 'ai'

type Around = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0]
type Model = Around['model']
type Result = Awaited<ReturnType<Around['doGenerate']>>
type Part = Awaited<ReturnType<Around['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never

/** A step of a scripted model: text, a tool call, or a failure. */
export type AiStep =
  | { readonly text: string }
  | { readonly tool: string; readonly input: object; readonly id?: string }
  | { readonly calls: readonly { readonly tool: string; readonly input: object; readonly id: string }[] }
  | { readonly fails: string }

const usage: Result['usage'] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}

/** The parts one by one, as a connection gives them. */
async function* paced(parts: readonly Part[], signal: AbortSignal | undefined): AsyncGenerator<Part> {
  for (const part of parts) {
    await new Promise(setImmediate)
    signal?.throwIfAborted()
    yield part
  }
}

/** A model of the AI SDK that answers the n-th turn of a conversation with the n-th step of a script. */
export function aiModel(script: readonly AiStep[], onCall: (turn: number) => void = () => {}): Model {
  const answer = (options: Around['params']): { content: Result['content']; reason: 'stop' | 'tool-calls' } => {
    const turn = options.prompt.filter(({ role }) => role === 'assistant').length
    onCall(turn)
    const step = script[turn]
    if (step === undefined) throw new Error(`the script has no step ${turn}`)
    if ('fails' in step) throw new Error(step.fails)
    if ('text' in step) return { content: [{ type: 'text', text: step.text }], reason: 'stop' }
    const calls = 'calls' in step ? step.calls : [{ ...step, id: step.id ?? `call-${turn}` }]
    return {
      content: calls.map(({ id, tool, input }) => ({
        ...{ type: 'tool-call', toolCallId: id, toolName: tool, input: JSON.stringify(input) },
      })) as Result['content'],
      reason: 'tool-calls',
    }
  }
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted-1',
    supportedUrls: {},
    async doGenerate(options) {
      const { content, reason } = answer(options)
      const response = { id: 'r', modelId: 'scripted-1', timestamp: new Date(0) }
      return { content, finishReason: { unified: reason, raw: reason }, usage, warnings: [], response }
    },
    async doStream(options) {
      const { content, reason } = answer(options)
      const parts = content.flatMap((one): Part[] => {
        if (one.type !== 'text') return [one as Part]
        const words = one.text.split(/(?<= )/)
        const deltas = words.map((delta): Part => ({ type: 'text-delta', id: 't', delta }))
        return [{ type: 'text-start', id: 't' }, ...deltas, { type: 'text-end', id: 't' }]
      })
      const all: Part[] = [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', usage, finishReason: { unified: reason, raw: reason } },
      ]
      return { stream: ReadableStream.from(paced(all, options.abortSignal)) as ReadableStream<Part> }
    },
  }
}
