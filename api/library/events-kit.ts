import '../node-version.ts'

// `@keepup/runtime/events`: for programs that read events without a data folder: types, decoding, folding and schemas. It
// opens nothing, and has no adapters.
//
//   import { History } from '@keepup/runtime/events'
//
//   const history = await History.read(lines)                        // the lines of keepup export RUN
//   for await (const { event } of history.events(history.streams[0]!))
//     if (event.type === 'tool_call_end') console.log(event.body.success)
//   const end = await history.stateAt('agent', history.streams[0]!)
//
// api/docs/events.md contains a complete example.

export type { OwnKind } from '../../domain/kinds.ts'
export type { Actor, Header, RecordedEvent } from '../../domain/log/envelope.ts'
export type { Json, JsonObject } from '../../domain/log/json.ts'
export { asyncApi } from '../operations/asyncapi/document.ts'
export { type EventType, eventSchema, eventTypes } from '../operations/events/event-schemas.ts'
export { NoExport } from '../operations/events/export-lines.ts'
export type { EventView } from '../operations/events/schemas.ts'
export { type VerifiedExport, verifyExport } from '../operations/events/verify-export.ts'
export { type AnyEvent, decode, digest, type EventOf, fold, isOfKind, type StateOf } from './events-kit/fold.ts'
export { History, type HistoryEvent, type StateAt } from './events-kit/history.ts'
