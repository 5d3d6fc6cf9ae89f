import { z } from 'zod'
import { AnyJson } from '../schemas.ts'
import type { CloudEvent } from './cloud-event.ts'

/** The schema of {@link CloudEvent}. The thread that writes files loads no schemas, so the type is apart. */
export const CloudEventSchema = z
  .strictObject({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string().meta({ description: 'keepup://<log>/<stream>' }),
    type: z.string().meta({ description: 'dev.keepup.<type>.v<version>' }),
    subject: z.string().meta({ description: 'The id of the tool call, or the revision' }),
    time: z.string(),
    datacontenttype: z.literal('application/json').exactOptional(),
    dataschema: z.string().exactOptional().meta({ description: 'The `$id` of the schema of `data`' }),
    data: AnyJson.optional().meta({ description: 'The payload; absent: erased or altered' }),
    sequence: z.string().meta({ description: 'The position, in 20 digits, so that texts sort like positions' }),
    partitionkey: z.string().meta({ description: 'The stream' }),
    traceparent: z.string().exactOptional(),
    kuhash: z.string(),
    kurun: z.string().exactOptional(),
    kuagent: z.string().exactOptional(),
    kuactor: z.string(),
  })
  .meta({ id: 'CloudEvent' }) satisfies z.ZodType<CloudEvent>
