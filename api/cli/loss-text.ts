import { counted } from '../../projections/text.ts'
import { take } from './client.ts'
import type { Context } from './context.ts'
import { dollars } from './output/units.ts'

export type LossReport = Awaited<ReturnType<typeof lossReport>>
type Loss = NonNullable<LossReport['loss']>

/** What the log has lost. `all`: every stream and position is held against what was seen of it. */
export async function lossReport(ctx: Context, all: boolean) {
  const client = await ctx.client('read')
  return take(client.v1.losses.$get({ query: { all: all ? 'true' : 'false' } }))
}

/** A loss for people: what is missing, run by run. */
export function lossLines(loss: Loss): string[] {
  const gaps = loss.gaps.map(
    ({ from, to }) => `  no event at position${from === to ? ` ${from}` : `s ${from} to ${to}`}`,
  )
  const more = '  no mark proves that the tables had seen all of it, so any unfinished run may be shortened'
  return [loss.message, ...loss.streams.flatMap(streamLines), ...gaps, ...(loss.unlisted ? [more] : [])]
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
    ...calls.map(({ toolCallId, toolName, effect }) => `    ${toolCallId} ${toolName} (${effect}) began there`),
    ...(unlisted ? ['    other calls may have begun there'] : []),
  ]
}

/** A line on stderr where the log has lost its end; lists of runs show it too. */
export async function noteLoss(ctx: Context): Promise<void> {
  const { loss } = await lossReport(ctx, false)
  if (loss === null) return
  ctx.note(`${loss.message}; nothing is recorded and no run goes on`)
  ctx.note(`  ${ctx.command('repair')}`)
}

export const accepted = (runs: readonly string[]): string =>
  runs.length === 0
    ? 'accepted; no unfinished run is shortened'
    : `accepted; recorded in ${counted(runs.length, 'run')}`
