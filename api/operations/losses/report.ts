import type { z } from 'zod'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { acceptedLosses } from './accepted.ts'
import { type Loss, lossText } from './loss.ts'
import type { AcceptLossBody } from './schemas.ts'

/** The open loss. `all`: compares every stream with the tables and the mark, and adds the accepted losses. */
export async function lossReport(s: Services, all: boolean) {
  const { open } = s.losses
  if (!all) return { open: open !== null, loss: withText(open) }
  const loss = await s.losses.look()
  return { open: open !== null, loss: withText(loss), accepted: await acceptedLosses(s) }
}

/** Records that a person accepts a loss. Rejects with `READ_ONLY`, and as {@link Services.losses} does. */
export async function acceptLoss(
  s: Services,
  { id, by, reason }: z.output<typeof AcceptLossBody>,
  options: RequestOptions,
) {
  mustWrite(s)
  const {
    loss = null,
    runs = [],
    unreadable = [],
  } = (await s.losses.accept(id, actorOf('user', by, options), reason)) ?? {}
  return { loss: withText(loss), runs, unreadable }
}

const withText = (loss: Loss | null) => loss && { ...loss, message: lossText(loss) }
