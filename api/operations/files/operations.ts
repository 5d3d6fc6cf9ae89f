import { z } from 'zod'
import { operation } from '../operation.ts'
import { Id } from '../schemas.ts'
import { blameFile } from './blame-file.ts'
import { BlameFileQuery, FileBlame } from './schemas.ts'

/** Files of a run at points of its history. */
export const FILE_OPERATIONS = [
  operation({
    name: 'blameFile',
    http: 'GET /v1/runs/{id}/blame',
    right: 'bodies.read',
    summary: 'A file as it is at a step, and which calls wrote its lines',
    input: { params: z.object({ id: Id }), query: BlameFileQuery },
    output: FileBlame,
    answers: { 200: 'The file and its writers' },
    run: (s, { params, query }) => blameFile(s, params.id, query),
  }),
] as const
