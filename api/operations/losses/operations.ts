import { z } from 'zod'
import { CommandHeaders } from '../headers.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { operation } from '../operation.ts'
import { recordCommand } from '../runs/record-command.ts'
import { actorOf } from '../runs/request-options.ts'
import { Id, Recorded } from '../schemas.ts'
import { acceptLoss, lossReport } from './report.ts'
import { AcceptLossBody, LossAccepted, LossReport, ReleaseCallsBody } from './schemas.ts'

/** Losses of the log, and people's decisions about them. */
export const LOSS_OPERATIONS = [
  operation({
    name: 'getLosses',
    http: 'GET /v1/losses',
    right: 'system.read',
    summary: 'Whether the log has lost anything that its mark or the tables have seen',
    input: {
      query: z.strictObject({
        all: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: 'true: hold every stream and every position against what was seen of it' }),
      }),
    },
    output: LossReport,
    answers: { 200: 'What is missing' },
    run: (s, { query }) => lossReport(s, query.all === 'true'),
  }),
  operation({
    name: 'acceptLoss',
    http: 'POST /v1/losses/accept',
    right: 'log.repair',
    summary: 'Accept what the log has lost: runs may go on, and calls that began in the lost part are unknown outcomes',
    input: { body: AcceptLossBody },
    output: LossAccepted,
    answers: { 200: 'Recorded' },
    run: (s, { body }, { options }) => acceptLoss(s, body, options),
  }),
  operation({
    name: 'releaseCalls',
    http: 'POST /v1/runs/{id}/release-calls',
    right: 'log.repair',
    summary: 'Let irreversible calls of a run begin again, although the lost part may have held others than are known',
    input: { params: z.object({ id: Id }), headers: CommandHeaders, body: ReleaseCallsBody },
    output: Recorded,
    answers: { 200: 'Recorded' },
    run: (s, { params, body: { by, reason } }, { options }) => {
      const command = omitUndefined({ kind: 'release_loss' as const, reason })
      return recordCommand(s, {
        agentId: params.id,
        command,
        actor: actorOf('user', by, options),
        options,
        drive: 'no',
      })
    },
  }),
] as const
