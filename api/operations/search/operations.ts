import { searchFiles } from '../../../projections/index.ts'
import { operation } from '../operation.ts'
import * as schema from './schemas.ts'
import { searchEvents } from './search.ts'

/** Search in the texts of runs. */
export const SEARCH_OPERATIONS = [
  operation({
    name: 'searchTexts',
    http: 'GET /v1/search',
    right: 'bodies.read',
    summary: 'Inputs, answers, arguments, outputs and messages of runs that contain a text, newest first',
    description:
      'A page examines 40,000 texts or about 32 MiB: it may be empty and have a next one. A page has whole events, so it has more matches than the limit if its first event has. Of a text, its first 65,536 characters are searched.',
    input: { query: schema.SearchQuery },
    output: schema.Matches,
    answers: { 200: 'A page of matches' },
    awaitsTables: true,
    run: (s, { query }) => searchEvents(s, query),
  }),
  operation({
    name: 'searchFiles',
    http: 'GET /v1/search/files',
    right: 'bodies.read',
    summary: 'Files that calls name or have changed, whose path contains a text, those of the most runs first',
    input: { query: schema.FilesQuery },
    output: schema.FileMatches,
    answers: { 200: 'The files' },
    awaitsTables: true,
    async run(s, { query }) {
      const { position, value } = await s.read.rows((db) => searchFiles(db, query))
      return { position, files: value }
    },
  }),
] as const
