import { StartHeaders, TraceHeaders } from '../headers.ts'
import { operation } from '../operation.ts'
import { changeKeeping, holdViews, retentionView, setHold } from './holds.ts'
import * as schema from './schemas.ts'
import { sweepRetention } from './sweep.ts'

const write = { right: 'runs.erase' } as const
const headers = TraceHeaders

/** How long texts stay, and legal holds, which keep them. */
export const KEEPING_OPERATIONS = [
  operation({
    ...{ name: 'getRetention', http: 'GET /v1/retention', right: 'system.read' },
    summary: 'After how many days texts are erased by policy',
    input: {},
    output: schema.Retention,
    answers: { 200: 'The retention of each subject' },
    run: async (s) => ({ retention: retentionView(await s.keeping.state()), erases: s.log.erases }),
  }),
  operation({
    ...{ name: 'setRetention', http: 'PUT /v1/retention', ...write },
    summary: 'Set after how many days texts of a subject are erased by policy',
    input: { headers, body: schema.SetRetention },
    output: schema.KeepingChanged,
    answers: { 200: 'Recorded' },
    run: (s, { body: { by, of, days } }, caller) => changeKeeping(s, { kind: 'set_retention', of, days }, caller, by),
  }),
  operation({
    ...{ name: 'sweepRetention', http: 'POST /v1/retention/sweep', ...write },
    summary: 'Erase now what is older than its retention, as the process that drives does by itself; or list it',
    input: { headers, body: schema.SweepBody },
    output: schema.Sweep,
    answers: { 200: 'What was erased, and what was spared' },
    run: (s, { body }) => sweepRetention(s, body),
  }),
  operation({
    ...{ name: 'listHolds', http: 'GET /v1/holds', right: 'access.read' },
    summary: 'The legal holds, oldest first',
    input: { query: schema.HoldsQuery },
    output: schema.HoldList,
    answers: { 200: 'The holds' },
    run: async (s, { query }) => ({ holds: holdViews(await s.keeping.state(), query.all === 'true') }),
  }),
  operation({
    ...{ name: 'setHold', http: 'POST /v1/holds', ...write },
    summary: 'Hold a run or a stream: nobody can erase it until the hold is lifted',
    input: { headers: StartHeaders, body: schema.SetHold },
    output: schema.HoldChanged,
    answers: { 200: 'Held' },
    run: (s, { body }, caller) => setHold(s, body, caller),
  }),
  operation({
    ...{ name: 'liftHold', http: 'POST /v1/holds/{hold}/lift', ...write },
    summary: 'Lift a hold',
    input: { params: schema.HoldParam, headers, body: schema.LiftHold },
    output: schema.KeepingChanged,
    answers: { 200: 'Lifted' },
    run: (s, { params: { hold }, body: { by, reason = null } }, caller) =>
      changeKeeping(s, { kind: 'lift_hold', hold, reason }, caller, by),
  }),
] as const
