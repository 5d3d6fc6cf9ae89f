import type { Message } from '../../../domain/calls/content.ts'
import { ModelError } from '../../../domain/calls/errors.ts'
import type { ModelOutcome, ModelProvider, ModelRequest } from '../../../domain/ports/index.ts'

const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }

/** A plain request with two tools; `change` replaces members. */
export const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'some-model',
  system: 'You are a tester.',
  messages: [{ role: 'user', content: 'Go.' }],
  tools: [
    { name: 'read_file', description: 'Reads a file.', parameters },
    { name: 'complete_task', description: 'Ends the task.', parameters },
  ],
  toolChoice: 'any',
  parallelCalls: false,
  maxOutputTokens: 1000,
  ...change,
})

export const result = (providerCallId: string, content: string, isError = false): Message => ({
  role: 'tool',
  toolCallId: `c-${providerCallId}`,
  providerCallId,
  toolName: 'read_file',
  content,
  isError,
})

/** A signal that never aborts. */
export const never = (): AbortSignal => new AbortController().signal

/** The answer to a request, and the streamed text, in any pieces. */
export async function ask(provider: ModelProvider, wanted = request()): Promise<ModelOutcome & { streamed: string }> {
  let streamed = ''
  const onText = (text: string) => {
    streamed += text
  }
  const outcome = await provider.call(wanted, { signal: never(), onText })
  return { ...outcome, streamed }
}

/** The ModelError of a call. Any other result fails the test. */
export async function failure(provider: ModelProvider, wanted = request()): Promise<ModelError> {
  try {
    await provider.call(wanted, { signal: never() })
  } catch (error) {
    if (error instanceof ModelError) return error
    throw error
  }
  throw new Error('the call was expected to fail')
}
