import { OTLP } from '../../../domain/external/reported/backend.ts'
import { type RunFigures, runFigures } from '../../../projections/index.ts'
import { proofStatus } from '../proof/status.ts'
import type { Services } from '../services.ts'
import { counter, gauge, histogram, type Metric } from './metric.ts'

/** The bounds of the times of approvals, in seconds: from a second to a day. */
const WAITS = [1, 10, 60, 300, 900, 3_600, 14_400, 86_400]
/** How long figures of runs are shown again, in ms: each reads whole tables. */
const FIGURES_MS = 10_000

const seconds = (time: string | null | undefined): number | null => (time ? Date.parse(time) / 1_000 : null)
const one = (value: number | null) => [[{}, value]] as const

/** The metrics of a log. */
export class Metrics {
  readonly #services: Services
  #figures: { readonly at: number; readonly value: Promise<RunFigures> } | null = null

  constructor(services: Services) {
    this.#services = services
  }

  async read(): Promise<readonly Metric[]> {
    const s = this.#services
    const parts = await Promise.all([this.#ofRuns(), tableMetrics(s), proofMetrics(s), readerMetrics(s)])
    return [...parts.flat(), ...(s.appendTimes === null ? [] : [s.appendTimes.metric])]
  }

  async #ofRuns(): Promise<readonly Metric[]> {
    const { read, clock } = this.#services
    const now = clock.now()
    if (this.#figures === null || now - this.#figures.at >= FIGURES_MS) {
      const value = read.rowsApart((db) => runFigures(db, WAITS))
      this.#figures = { at: now, value }
      value.catch(() => {
        this.#figures = null
      })
    }
    const { runs, toolCalls, waiting, approvals, ...figures } = await this.#figures.value
    const modelCalls = figures.modelCalls.map((of) => ({ ...of, model: this.#labelOf(of) }))
    const tokens = modelCalls.flatMap((of) => [
      [{ model: of.model, direction: 'input', cache: 'none' }, of.input] as const,
      [{ model: of.model, direction: 'input', cache: 'read' }, of.cacheRead] as const,
      [{ model: of.model, direction: 'input', cache: 'write' }, of.cacheWrite] as const,
      [{ model: of.model, direction: 'output', cache: 'none' }, of.output] as const,
    ])
    const asks = (reason: string) => waiting.find((of) => of.reason === reason)?.count ?? 0
    return [
      gauge('runs', 'Runs by status.', added(runs.map(({ status, count }) => [{ status }, count]))),
      counter('runs_started_total', 'Runs by role.', added(runs.map(({ role, count }) => [{ role }, count]))),
      counter(
        'model_calls_total',
        'Ended attempts of model calls.',
        added(modelCalls.map(({ model, outcome, count }) => [{ model, outcome }, count])),
      ),
      counter('model_tokens_total', 'Tokens of ended model calls.', added(tokens)),
      counter(
        'cost_dollars_total',
        'What ended model calls with a known price cost.',
        added(modelCalls.map(({ model, nanoDollars }) => [{ model }, nanoDollars / 1e9])),
      ),
      counter(
        'tool_calls_total',
        'Ended calls of tools; without a name: calls that never ran.',
        toolCalls.map(({ tool, outcome, count }) => [{ tool, outcome }, count]),
      ),
      gauge('approvals_waiting', 'Calls that wait for the approval of a person.', one(asks('approval'))),
      gauge('doubts_waiting', 'Calls with an unknown outcome that wait for a person.', one(asks('doubt'))),
      gauge('questions_waiting', 'Agents that wait for the answer of a person.', one(asks('input'))),
      histogram('approval_wait_seconds', 'Times from a question to the answer of a person.', WAITS, [[{}, approvals]]),
    ]
  }

  /** The label of a model. A program chooses the names of its models, so only those with a price have their own. */
  #labelOf({ model, reported }: RunFigures['modelCalls'][number]): string {
    const isKnown = reported === 0 || model === '' || (this.#services.agents?.price(model) ?? null) !== null
    return isKnown ? model : OTLP
  }
}

async function tableMetrics({ read, log }: Services): Promise<readonly Metric[]> {
  const [{ behind, parked }, { position }] = await Promise.all([read.status(), log.headCursor()])
  return [
    gauge('log_position', 'The position of the last event of the log.', one(position)),
    gauge('projection_lag_events', 'Events that the tables do not show yet, up to 10000.', one(behind)),
    gauge('parked_streams', 'Streams that the tables cannot read further.', one(parked.length)),
  ]
}

/** The metrics of signed heads and anchors. */
export async function proofMetrics(s: Parameters<typeof proofStatus>[0]): Promise<readonly Metric[]> {
  const { head, unsignedSince, why, keyMissing, anchors } = await proofStatus(s)
  const each = (of: (anchor: (typeof anchors)[number]) => number | null) =>
    anchors.map((anchor) => [{ anchor: anchor.anchor, kind: anchor.kind }, of(anchor)] as const)
  const unsigned = unsignedSince === null ? 0 : Math.max(0, (s.clock.now() - Date.parse(unsignedSince)) / 1_000)
  const anchored = Math.max(0, ...anchors.map(({ size }) => size ?? 0))
  const times = anchors.flatMap(({ anchoredAt }) => seconds(anchoredAt) ?? [])
  const lastAnchor = times.length === 0 ? null : Math.max(0, s.clock.now() / 1_000 - Math.max(...times))
  return [
    gauge('head_size', 'Events that the last signed head covers.', one(head?.size ?? null)),
    gauge('head_signed_timestamp_seconds', 'When the last head was signed.', one(seconds(head?.signedAt))),
    gauge('log_unsigned_seconds', 'Age of the oldest event that no head covers; 0: there is none.', one(unsigned)),
    gauge('log_signing_failed', '1: the last attempt to sign the log failed.', one(why === undefined ? 0 : 1)),
    gauge('log_key_missing', '1: this machine does not have the key that signs the log.', one(keyMissing ? 1 : 0)),
    gauge(
      'proof_unanchored_events',
      'Signed events that no anchor covers.',
      one(head === null ? null : Math.max(0, head.size - anchored)),
    ),
    gauge('proof_last_anchor_seconds', 'Age of the newest anchor.', one(lastAnchor)),
    gauge(
      'anchor_size',
      'Events of the last head that the anchor keeps.',
      each(({ size }) => size),
    ),
    gauge(
      'anchor_success_timestamp_seconds',
      'When it was left there.',
      each(({ anchoredAt }) => seconds(anchoredAt)),
    ),
    gauge(
      'anchor_failed',
      '1: the last attempt failed.',
      each(({ failure }) => (failure === null ? 0 : 1)),
    ),
  ]
}

/** The metrics of webhooks, telemetry and consumers. */
export async function readerMetrics(
  s: Pick<Services, 'webhooks' | 'telemetry' | 'consumers'>,
): Promise<readonly Metric[]> {
  const [webhooks, collector, consumers] = [
    await s.webhooks.list(),
    await s.telemetry.state(),
    await s.consumers.list(),
  ]
  const hooks = (of: (webhook: (typeof webhooks)[number]) => number | null) =>
    webhooks.map((webhook) => [{ webhook: webhook.name }, of(webhook)] as const)
  return [
    gauge(
      'webhook_behind',
      'Events that the webhook has not handled, up to 1000.',
      hooks(({ behind }) => behind),
    ),
    gauge(
      'webhook_success_timestamp_seconds',
      'When the last notice was delivered.',
      hooks(({ deliveredAt }) => seconds(deliveredAt)),
    ),
    gauge(
      'webhook_failed',
      '1: the last delivery failed.',
      hooks(({ failure }) => (failure === null ? 0 : 1)),
    ),
    gauge(
      'webhook_stopped',
      '1: its receiver answered 410.',
      hooks(({ stopped }) => (stopped === null ? 0 : 1)),
    ),
    gauge('telemetry_success_timestamp_seconds', 'When spans were last sent.', one(seconds(collector?.sentAt))),
    gauge(
      'telemetry_failed',
      '1: the last request to the collector failed.',
      one(collector === null ? null : collector.failure === null ? 0 : 1),
    ),
    gauge(
      'consumer_lag_events',
      'Events of the log that the consumer has not acked, up to 10000.',
      consumers.map(({ name, lag }) => [{ consumer: name }, lag]),
    ),
  ]
}

type Counted = readonly [labels: Readonly<Record<string, string>>, value: number]

/** Adds the values of equal labels. */
function added(samples: readonly Counted[]): readonly Counted[] {
  const sums = new Map<string, Counted>()
  for (const [labels, value] of samples) {
    const key = JSON.stringify(labels)
    sums.set(key, [labels, (sums.get(key)?.[1] ?? 0) + value])
  }
  return [...sums.values()]
}
