import { once } from 'node:events'
import {
  type AllStreamResolvedEvent,
  END,
  ErrorType,
  type PersistentSubscriptionToAll,
  type PersistentSubscriptionToAllResolvedEvent,
  persistentSubscriptionToAllSettingsFromDefaults,
  streamNameFilter,
} from '@eventstore/db-client'
import type { Header } from '../../domain/log/envelope.ts'
import { agentStream } from '../../domain/log/ids.ts'
import type { HeldClient } from './client.ts'
import { storedStreamName } from './codec.ts'
import { connectEventStore, disconnect, type EventStoreConnection } from './connection.ts'
import { parseAddress } from './connection-string.ts'
import { withinDeadline } from './deadline.ts'
import { causeOf } from './errors.ts'
import { Backoff, LIMITS } from './retry.ts'

/**
 * An event of an agent. `byDriver`: the agent's driver recorded it. `done` acknowledges it, so that no other listener
 * gets it.
 */
export interface AgentNotification {
  readonly agentId: string
  readonly byDriver: boolean
  done(): void
}

/** The most unacknowledged notifications of one listener. */
const AT_ONCE = 32
/** The time before an unacknowledged notification goes to another listener. In ms. */
const ANSWER_WITHIN = 30_000

/**
 * A persistent subscription to the agents' streams of a namespace. Each event after the first `listen` goes to one
 * listener, at least once and in any order. Workers find lost events by their regular queries of the `due` table.
 */
export class EventStoreWorkSubscription {
  readonly #connection: EventStoreConnection
  readonly #namespace: string
  private constructor(connection: EventStoreConnection, namespace: string) {
    this.#connection = connection
    this.#namespace = namespace
  }

  /** Shares the process's connection. Call {@link close} afterwards. */
  static async open({ connectionString, namespace }: { connectionString: string; namespace: string }) {
    return new EventStoreWorkSubscription(connectEventStore(parseAddress(connectionString), LIMITS.callMs), namespace)
  }

  /**
   * Yields notifications until the signal aborts, and reconnects after errors. `onTrouble` gets each error, and null
   * when the subscription works again.
   */
  async *notifications(signal: AbortSignal, onTrouble: (error: unknown) => void): AsyncGenerator<AgentNotification> {
    const backoff = new Backoff()
    while (!signal.aborted) {
      const held = await this.#connection.reader.take()
      try {
        await this.#makeGroup(held)
        const hears = () => onTrouble(null)
        for await (const notification of this.#listen(held, AbortSignal.any([signal, held.gone.signal]), hears)) {
          backoff.reset()
          yield notification
        }
      } catch (error) {
        if (signal.aborted) return
        if (!held.gone.signal.aborted) {
          this.#connection.reader.failed(held, error)
          onTrouble(error)
        }
        await backoff.wait(signal).catch(() => undefined)
      }
    }
  }

  /**
   * Checks the subscription without creating it. `made`: the subscription exists. `refused`: why this user may not
   * listen; null if no reason is known.
   */
  async look(): Promise<{ readonly version: string; readonly made: boolean; readonly refused: string | null }> {
    const version = await this.#connection.serverVersion(LIMITS.callMs)
    const { client } = await this.#connection.reader.take()
    try {
      await withinDeadline(
        LIMITS.callMs,
        'the question for its group',
        client.getPersistentSubscriptionToAllInfo(this.#group),
      )
      return { version, made: true, refused: null }
    } catch (error) {
      const absent = causeOf(error) === ErrorType.PERSISTENT_SUBSCRIPTION_DOES_NOT_EXIST
      const why = error instanceof Error && error.message ? error.message : causeOf(error)
      return { version, made: false, refused: absent ? null : why }
    }
  }

  async close(): Promise<void> {
    await disconnect(this.#connection)
  }

  get #group(): string {
    return `${this.#namespace}-workers`
  }

  async #makeGroup({ client }: HeldClient): Promise<void> {
    const settings = persistentSubscriptionToAllSettingsFromDefaults({ startFrom: END, messageTimeout: ANSWER_WITHIN })
    const filter = streamNameFilter({ prefixes: [storedStreamName(this.#namespace, agentStream(''))] })
    try {
      await client.createPersistentSubscriptionToAll(this.#group, settings, { filter })
    } catch (error) {
      if (causeOf(error) !== ErrorType.PERSISTENT_SUBSCRIPTION_EXISTS) throw error
    }
  }

  async *#listen({ client }: HeldClient, signal: AbortSignal, hears: () => void): AsyncGenerator<AgentNotification> {
    const subscription = client.subscribeToPersistentSubscriptionToAll(this.#group, { bufferSize: AT_ONCE })
    const ready: PersistentSubscriptionToAllResolvedEvent[] = []
    let broken: unknown = null
    const news = new EventTarget()
    const heard = () => news.dispatchEvent(new Event('news'))
    // Keep the listener: an error after the end would otherwise be uncaught.
    subscription.on('error', (error: unknown) => {
      broken ??= error
      heard()
    })
    subscription.on('confirmation', hears)
    subscription.on('end', () => {
      broken ??= new Error('the server ended the subscription')
      heard()
    })
    subscription.on('data', (event: PersistentSubscriptionToAllResolvedEvent) => {
      ready.push(event)
      heard()
    })
    try {
      while (!signal.aborted) {
        const event = ready.shift()
        if (event) yield notificationOf(subscription, event)
        else if (broken !== null) throw broken
        else await once(news, 'news', { signal }).catch(() => undefined)
      }
    } finally {
      subscription.unsubscribe().catch(() => undefined)
    }
  }
}

function notificationOf(
  subscription: PersistentSubscriptionToAll,
  delivered: PersistentSubscriptionToAllResolvedEvent,
): AgentNotification {
  const header = headerOf(delivered)
  return {
    agentId: header?.agentId ?? '',
    byDriver: header === null || header.driver !== undefined,
    // Unacknowledged notifications are delivered again.
    done: () => void subscription.ack(delivered).catch(() => undefined),
  }
}

/** The header, unchecked, because it only selects the agent to look at. Null: the event is not one of keepup's. */
function headerOf({ event }: Pick<AllStreamResolvedEvent, 'event'>): Header | null {
  const { header } = (event?.metadata ?? {}) as { header?: Header }
  return typeof header?.agentId === 'string' ? header : null
}
