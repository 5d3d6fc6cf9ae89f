import type { TokenUsage } from '@ag-ui/core'
import { inputOf } from '../../../domain/calls/content.ts'
import type { Payload } from '../events/schemas.ts'

/** Sums the tokens of model calls by provider and model. */
export class TokenUsages {
  readonly #sums = new Map<string, Required<Omit<TokenUsage, 'reasoningTokens' | 'provider'>> & TokenUsage>()
  readonly #providers: ReadonlyMap<string, string>

  /** `providers`: the provider of each model. */
  constructor(providers: ReadonlyMap<string, string>) {
    this.#providers = providers
  }

  /** `asked`: the model of the request; an answer may name another one, such as a dated version. */
  add({ servedBy: model, usage }: Pick<Payload<'model_call_end'>, 'servedBy' | 'usage'>, asked: string): void {
    const provider = this.#providers.get(asked)
    const sum = this.#sums.get(model) ?? {
      ...(provider !== undefined && { provider }),
      ...{ model, inputTokens: 0, outputTokens: 0, totalTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0 },
    }
    sum.inputTokens += inputOf(usage)
    sum.outputTokens += usage.output
    sum.totalTokens += inputOf(usage) + usage.output
    sum.cachedInputTokens += usage.cacheRead
    sum.cacheWriteInputTokens += usage.cacheWrite
    this.#sums.set(model, sum)
  }

  /** In the order in which the models were first used. */
  get all(): TokenUsage[] {
    return [...this.#sums.values()]
  }
}
