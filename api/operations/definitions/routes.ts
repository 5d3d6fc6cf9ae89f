import { createRoute } from '@hono/zod-openapi'
import { json, newApp, refusals } from '../../http/new-app.ts'
import type { Services } from '../services.ts'
import * as schema from './schemas.ts'

const roles = createRoute({
  method: 'get',
  path: '/v1/roles',
  operationId: 'listRoles',
  summary: 'The roles that a run may ask for, built in and from files',
  responses: { 200: json(schema.Roles, 'Roles'), ...refusals },
})

const tools = createRoute({
  method: 'get',
  path: '/v1/tools',
  operationId: 'listTools',
  summary: 'The tools that runs may be given; connects to the configured MCP servers',
  responses: { 200: json(schema.Tools, 'Tools'), ...refusals },
})

/** The ingredients of runs. */
export function definitionRoutes(s: Services) {
  return newApp()
    .openapi(roles, async (c) => c.json(await s.roles(), 200))
    .openapi(tools, async (c) => {
      const { specs, faults } = await s.tools()
      const shown = specs.map(({ name, description, effect, control, timeLimitMs, parameters }) => ({
        ...{ name, description, effect, timeLimitMs, parameters },
        server: name.includes(':') ? name.split(':')[0]! : null,
        control: control !== false,
      }))
      return c.json({ tools: shown, faults }, 200)
    })
}
