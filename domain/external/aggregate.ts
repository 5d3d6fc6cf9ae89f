import { CommandRejected } from '../calls/errors.ts'
import { attachmentReader } from '../calls/events/attachment.ts'
import type { Aggregate } from '../stream/aggregate.ts'
import { reading } from './codec.ts'
import type { ExternalCommand, ExternalContext } from './commands.ts'
import { decideExternal } from './decide.ts'
import type { ExternalDraft } from './decision-builder.ts'
import { EXTERNAL_FOLD, earlierExternalDigest, externalDigest } from './digest.ts'
import { erasing } from './erasing.ts'
import type { ExternalEvent } from './events.ts'
import { evolveExternal, REMEMBERED_REQUESTS } from './evolve.ts'
import { wakeExternalAt } from './owed.ts'
import type { ExternalState } from './state.ts'

const ATTACHING: ReadonlySet<string> = new Set<ExternalEvent['type']>(['tool_call_end'])

/** Runs of external agents: the streams `external-<agentId>`. */
export const external: Aggregate<ExternalState, ExternalEvent, ExternalCommand, ExternalContext> = {
  kind: 'external',
  fold: EXTERNAL_FOLD,
  ...reading,
  evolve: evolveExternal,
  decide: decideExternal,
  wakeAt: wakeExternalAt,
  digest: externalDigest,
  earlierDigest: earlierExternalDigest,
  commands: (state) => state.commands,
  remembered: REMEMBERED_REQUESTS,
  reject: (code, message) => new CommandRejected(code, message),
  erasing,
  attaching: ATTACHING,
  attachment: attachmentReader(ATTACHING, reading.decode, (event) =>
    event.type === 'tool_call_end' ? event.body.attachment : undefined,
  ),
  attached,
}

/** The whole results of calls that the drafts refer to. */
function attached(drafts: readonly ExternalDraft[], command: ExternalCommand) {
  const commands = command.kind === 'series' ? command.commands : [command]
  return commands.flatMap((one) => {
    if (one.kind !== 'tool_succeeded' || one.attached === undefined) return []
    const { attachment, bytes } = one.attached
    const named = drafts.some(
      ({ event }) => event.type === 'tool_call_end' && event.body.attachment?.hash === attachment.hash,
    )
    return named ? [{ hash: attachment.hash, bytes }] : []
  })
}
