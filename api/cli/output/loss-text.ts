import type { z } from 'zod'
import { counted } from '../../../projections/engine/text.ts'
import { take } from '../../http/answers.ts'
import type { AcceptedLoss } from '../../operations/losses/schemas.ts'
import type { Context } from '../context.ts'
import { oneLine } from './text.ts'
import { dollars } from './units.ts'

export type LossReportAnswer = Awaited<ReturnType<typeof fetchLossReport>>
type Loss = NonNullable<LossReportAnswer['loss']>

/** Reads the report on the log's loss. `all`: compare every stream and position with the last known one. */
export async function fetchLossReport(ctx: Context, all: boolean) {
  const client = await ctx.client('read')
  return take(client.v1.losses.$get({ query: { all: all ? 'true' : 'false' } }))
}

/** A loss as text: the missing parts, run by run. */
export function lossLines(loss: Loss): string[] {
  const more = '  no mark proves that the tables had seen all of it, so any unfinished run may be shortened'
  return [loss.message, ...loss.streams.flatMap(streamLines), ...gapLines(loss.gaps), ...(loss.unlisted ? [more] : [])]
}

function streamLines({
  stream,
  revision,
  hash,
  kept,
  calls,
  unlisted,
  nanoDollars,
  unreadable,
}: Loss['streams'][number]): string[] {
  if (unreadable !== undefined)
    return [`  ${stream} could not be read (${unreadable}) when a loss was accepted, and records none`]
  const left = kept < 0 ? 'vanished' : `ends at revision ${kept}`
  const cost = nanoDollars > 0 ? `, ${dollars(nanoDollars)} of model calls` : ''
  return [
    `  ${stream} ${left}; revision ${revision} (${hash.slice(0, 16)}) was seen${cost}`,
    ...callLines(calls),
    ...(unlisted ? [OTHERS] : []),
  ]
}

type Accepted = z.infer<typeof AcceptedLoss>

/** An accepted loss as text: who accepted it, when and why, and the calls left in doubt. */
export function acceptedLines({ by, at, reason, kept, streams, vanished, unreadable, gaps }: Accepted): string[] {
  const why = reason === null ? 'no reason was given' : oneLine(reason)
  const tree = `the log kept ${counted(kept ?? 0, 'event')} of the signed tree; heads of more events are superseded`
  return [
    `a loss of the log was accepted by ${oneLine(by.id)} at ${at}: ${why}`,
    ...(kept === undefined ? [] : [`  ${tree}`]),
    ...streams.flatMap(({ agentId, revision, calls, unlisted, nanoDollars }) => [
      `  ${agentId}: ${seenUpTo(revision)}, ${counted(calls.length, 'call')} and ${moneyOf(nanoDollars)} in doubt`,
      ...callLines(calls),
      ...(unlisted ? [OTHERS] : []),
    ]),
    ...vanished.map(
      ({ stream, revision, nanoDollars = null }) =>
        `  ${stream} vanished: ${seenUpTo(revision < 0 ? null : revision)}, ${moneyOf(nanoDollars)} in doubt`,
    ),
    ...unreadable.map(({ stream, code }) => `  ${stream} could not be read (${code}), and is not driven`),
    ...gapLines(gaps),
  ]
}

const seenUpTo = (revision: number | null): string =>
  revision === null ? 'what had been seen of it is not known' : `revision ${revision} had been seen`

const moneyOf = (nanoDollars: number | null): string =>
  nanoDollars === null ? 'an unknown cost of model calls' : `${dollars(nanoDollars)} of model calls`

const OTHERS = '    other calls may have begun there'

const callLines = (calls: Loss['streams'][number]['calls']): string[] =>
  calls.map(({ toolCallId, toolName, effect }) => `    ${toolCallId} ${toolName} (${effect}) began there`)

const gapLines = (gaps: Loss['gaps']): string[] =>
  gaps.map(({ from, to }) => `  no event at position${from === to ? ` ${from}` : `s ${from} to ${to}`}`)

/** Prints a note on stderr if the log has lost its end. Lists of runs call this too. */
export async function noteLoss(ctx: Context): Promise<void> {
  const { loss } = await fetchLossReport(ctx, false)
  if (loss === null) return
  ctx.note(`${loss.message}; nothing is recorded and no run goes on`)
  ctx.note(`  ${ctx.command('repair')}`)
}

export const accepted = (runs: readonly string[]): string =>
  runs.length === 0
    ? 'accepted; no unfinished run is shortened'
    : `accepted; recorded in ${counted(runs.length, 'run')}`
