import { operation } from '../operation.ts'
import * as schema from './schemas.ts'

/** The available roles and tools. */
export const DEFINITION_OPERATIONS = [
  operation({
    name: 'listRoles',
    http: 'GET /v1/roles',
    right: 'system.read',
    summary: 'The roles that a run may ask for, built in and from files',
    input: {},
    output: schema.Roles,
    answers: { 200: 'Roles' },
    run: (s) => s.roles(),
  }),
  operation({
    name: 'listTools',
    http: 'GET /v1/tools',
    right: 'system.read',
    summary: 'The tools that runs may be given; connects to the configured MCP servers',
    input: {},
    output: schema.Tools,
    answers: { 200: 'Tools' },
    run: async (s) => {
      const { specs, faults } = await s.tools()
      const tools = specs.map(({ name, description, effect, control, timeLimitMs, parameters }) => ({
        ...{ name, description, effect, timeLimitMs, parameters },
        server: name.includes(':') ? name.split(':')[0]! : null,
        control: control !== false,
      }))
      return { tools, faults }
    },
  }),
] as const
