import type { KyselyPlugin, PluginTransformQueryArgs, PluginTransformResultArgs } from 'kysely'
import { yielder } from '../../../domain/stream/runtime/yield-to-event-loop.ts'

/** Yields to the event loop between the statements of one answer: each statement blocks this thread. */
export class GivesWay implements KyselyPlugin {
  readonly #yieldToEventLoop = yielder()

  transformQuery({ node }: PluginTransformQueryArgs) {
    return node
  }

  async transformResult({ result }: PluginTransformResultArgs) {
    await this.#yieldToEventLoop()
    return result
  }
}
