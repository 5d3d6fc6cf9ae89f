import { z } from 'zod'
import { Effect } from '../../../domain/calls/tools/tool-spec.ts'
import { RoleDefinition } from '../../../domain/tree/spec.ts'
import { AnyJson } from '../schemas.ts'

const faults = z.array(z.string()).readonly()

/** A role. Runs request it by its `name`. */
export const Role = z
  .strictObject({
    name: z.string(),
    file: z.string().nullable().meta({ description: "The file of a user's role; null: it is built in" }),
    definition: RoleDefinition,
    model: z.string().nullable().meta({ description: 'The model of runs that name none' }),
    wallClockMs: z.int().nullable().meta({ description: 'The time limit of runs that name none' }),
  })
  .meta({ id: 'Role', description: 'A role that a run can follow' })
export type Role = z.infer<typeof Role>
export const Roles = z
  .strictObject({
    roles: z.array(Role).readonly(),
    faults: faults.meta({ description: 'A sentence for each file that cannot be used' }),
  })
  .meta({ id: 'Roles' })

/** A tool that runs can have. */
const OfferedTool = z
  .strictObject({
    name: z.string(),
    server: z.string().nullable().meta({ description: 'The first part of server:tool' }),
    description: z.string(),
    effect: Effect,
    control: z.boolean().meta({ description: 'It steers the run, and is offered in every phase' }),
    timeLimitMs: z.int(),
    parameters: AnyJson,
  })
  .meta({ id: 'Tool', description: 'A tool that agents can be given' })
export const Tools = z
  .strictObject({
    tools: z.array(OfferedTool).readonly(),
    faults: faults.meta({ description: 'A sentence for each MCP server, or tool of one, that cannot be had' }),
  })
  .meta({ id: 'Tools' })
export type Tools = z.infer<typeof Tools>
