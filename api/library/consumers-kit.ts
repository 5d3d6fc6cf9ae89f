import '../node-version.ts'

// `@keepup/runtime/consumers`: for programs that keep rows about the events of a log.
//
//   import { forgetPosition, testProjection } from '@keepup/runtime/consumers'
//
// `keepup.consume` hands the events over. api/docs/consumers.md contains a complete example.

export type { ConsumerFilter } from '../operations/consumers/filter.ts'
export type { Consumer } from '../operations/consumers/schemas.ts'
export type { EventView } from '../operations/events/schemas.ts'
export type { Consume, Consuming, Handler } from './consumers/consume.ts'
export { forgetPosition, readPosition } from './consumers/position-in.ts'
export type { RowHandler } from './consumers/row-sink.ts'
export {
  type GivenEvent,
  type ProjectionTest,
  type TestedProjection,
  testProjection,
} from './consumers/test-projection.ts'
