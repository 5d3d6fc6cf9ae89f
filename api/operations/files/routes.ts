import { createRoute } from '@hono/zod-openapi'
import { json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { Problem } from '../problem.ts'
import { mustBeRun, mustGovern } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import { BlameFileQuery, FileBlame } from './schemas.ts'

const blame = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/blame',
  operationId: 'blameFile',
  summary: 'A file as it is at a step, and which calls wrote its lines',
  request: { params: RunId, query: BlameFileQuery },
  responses: { 200: json(FileBlame, 'The file and its writers'), ...refusals },
})

/** Files of a run at points of its history. */
export function fileRoutes(s: Services) {
  return newApp().openapi(blame, async (c) => {
    const { id } = c.req.valid('param')
    const { path, step, agent = id } = c.req.valid('query')
    await mustBeRun(s, id)
    await mustGovern(s, agent, 'to tell which call wrote a line')
    const found = await s.files.blame(agent, step, path)
    if (found === null) throw new Problem('NO_WORKSPACE', 'this run has no versioned workspace')
    return c.json(found, 200)
  })
}
