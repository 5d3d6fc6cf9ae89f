import { z } from 'zod'

const Yes = z.enum(['true', 'false']).optional()

export const TelemetryQuery = z.strictObject({
  content: Yes.meta({ description: 'true: with prompts, answers, arguments and results' }),
  adopt: Yes.meta({ description: 'true: in the trace of the request that started the run, instead of a link to it' }),
})

export const TelemetryStatus = z
  .strictObject({
    collector: z
      .strictObject({
        target: z.string().meta({ description: 'The origin of its URL' }),
        consumer: z.string().meta({ description: 'The consumer of the log that has the position' }),
        sentAt: z.string().nullable().meta({ description: 'When the spans of a run were last taken' }),
        failure: z
          .strictObject({ at: z.string(), message: z.string() })
          .nullable()
          .meta({ description: 'The last failed request since then' }),
      })
      .nullable()
      .meta({ description: 'null: the settings name none' }),
  })
  .meta({ id: 'TelemetryStatus' })

export const Telemetry = z
  .strictObject({
    resourceSpans: z
      .array(z.looseObject({}))
      .readonly()
      .meta({ description: 'Batches of spans. Each is small enough for a request of its own' }),
  })
  .meta({ id: 'Telemetry', description: 'An ExportTraceServiceRequest of OTLP, as a collector takes it' })
export type Telemetry = z.infer<typeof Telemetry>
