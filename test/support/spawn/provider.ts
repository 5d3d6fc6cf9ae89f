import type { ExecutionParams, ExecutionResult, LLMProvider } from '../../../domain/ports/spawn.ts'

/** A provider whose calls are answered by the test. */
export class HeldProvider implements LLMProvider {
  readonly calls: { readonly params: ExecutionParams; readonly answer: PromiseWithResolvers<ExecutionResult> }[] = []

  execute(params: ExecutionParams): Promise<ExecutionResult> {
    const answer = Promise.withResolvers<ExecutionResult>()
    this.calls.push({ params, answer })
    return answer.promise
  }

  /** Answers a call. `calls` are in order of arrival. */
  answer(at: number, result: string, more: Partial<ExecutionResult> = {}): void {
    this.calls[at]!.answer.resolve({ result, ...more })
  }

  fail(at: number, error: unknown): void {
    this.calls[at]!.answer.reject(error)
  }
}

/** A provider that answers each prompt immediately. */
export const answering = (answer: (prompt: string) => string | Promise<string>) => ({
  prompts: [] as string[],
  async execute({ prompt }: { prompt: string }) {
    this.prompts.push(prompt)
    return { result: await answer(prompt) }
  },
})

/** Resolves after all due work has run. */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}
