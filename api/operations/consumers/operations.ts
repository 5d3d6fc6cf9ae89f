import { formatCursor } from '../../../domain/log/cursor.ts'
import { recordRequest } from '../access/record-request.ts'
import { checkedCursor } from '../events/filter.ts'
import { operation, WithStatus } from '../operation.ts'
import { Problem } from '../problem.ts'
import { mustWrite } from '../runs/record-command.ts'
import {
  AckConsumer,
  Acked,
  AnyConsumerParam,
  Consumer,
  ConsumerList,
  ConsumerParam,
  ConsumerRemoved,
  PutConsumer,
} from './schemas.ts'

/** Named consumers of the log. HTTP reads their events as a stream. */
export const CONSUMER_OPERATIONS = [
  operation({
    name: 'listConsumers',
    http: 'GET /v1/consumers',
    right: 'system.read',
    summary: 'The named consumers of the log, their positions and how far they are behind',
    input: {},
    output: ConsumerList,
    answers: { 200: 'Consumers, in the order of their names' },
    mcp: {},
    run: async ({ consumers }) => ({ consumers: await consumers.list() }),
  }),
  operation({
    name: 'putConsumer',
    http: 'PUT /v1/consumers/{name}',
    right: 'log.read',
    summary: 'Create a consumer. One with the same filter stays as it is, with its position',
    input: { params: ConsumerParam, body: PutConsumer },
    output: Consumer,
    answers: { 200: 'It existed', 201: 'Created' },
    async run(s, { params: { name }, body: { from, filter } }, caller) {
      mustWrite(s)
      const after =
        from === 'end' ? await s.log.headCursor() : from === 'beginning' ? null : await checkedCursor(s.log, from)
      await recordRequest(s, caller, 'putConsumer', name)
      const isNew = await s.consumers.create(name, { after, filter })
      return new WithStatus(isNew ? 201 : 200, await s.consumers.get(name))
    },
  }),
  operation({
    name: 'ackConsumer',
    http: 'POST /v1/consumers/{name}/ack',
    right: 'log.read',
    summary: 'Move the position of a consumer forward. An earlier position than the present one changes nothing',
    description: 'Refused with 409 `CONSUMER_TAKEN` if another reader has opened the consumer since.',
    input: { params: ConsumerParam, body: AckConsumer },
    output: Acked,
    answers: { 200: 'The position' },
    async run(s, { params: { name }, body: { position, epoch } }) {
      mustWrite(s)
      const cursor = await checkedCursor(s.log, position)
      if (cursor === null) throw new Problem('INVALID_REQUEST', 'position: expected a cursor')
      return { position: formatCursor(await s.consumers.ack(name, epoch, cursor)) }
    },
  }),
  operation({
    name: 'removeConsumer',
    http: 'DELETE /v1/consumers/{name}',
    right: 'log.read',
    summary: 'Remove a consumer and its position, and end its reader',
    description: 'The consumer of the setting `telemetry` can be removed once the setting is gone.',
    input: { params: AnyConsumerParam },
    output: ConsumerRemoved,
    answers: { 200: 'Removed' },
    async run(s, { params: { name } }, caller) {
      mustWrite(s)
      if ((await s.telemetry.state())?.consumer === name)
        throw new Problem(
          'INVALID_REQUEST',
          `name: ${name} reads for the setting "telemetry"; remove the setting, start keepup again, then remove the consumer`,
        )
      await s.consumers.get(name)
      await recordRequest(s, caller, 'removeConsumer', name)
      await s.consumers.remove(name)
      return { name }
    },
  }),
] as const
