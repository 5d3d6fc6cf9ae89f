import type { ExecutionParams, ExecutionResult, LLMProvider } from '../../../domain/ports/spawn.ts'

/** Calls of a provider, which a test answers when it likes. */
export class HeldProvider implements LLMProvider {
  readonly calls: { readonly params: ExecutionParams; readonly answer: PromiseWithResolvers<ExecutionResult> }[] = []

  execute(params: ExecutionParams): Promise<ExecutionResult> {
    const answer = Promise.withResolvers<ExecutionResult>()
    this.calls.push({ params, answer })
    return answer.promise
  }

  /** The prompts of the calls that are not answered yet are in order of their coming. */
  answer(at: number, result: string, more: Partial<ExecutionResult> = {}): void {
    this.calls[at]!.answer.resolve({ result, ...more })
  }

  fail(at: number, error: unknown): void {
    this.calls[at]!.answer.reject(error)
  }
}

/** A provider that answers each prompt at once. */
export const answering = (answer: (prompt: string) => string | Promise<string>) => ({
  prompts: [] as string[],
  async execute({ prompt }: { prompt: string }) {
    this.prompts.push(prompt)
    return { result: await answer(prompt) }
  },
})

/** All that is due has run. */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}
