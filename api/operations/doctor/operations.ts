import { operation } from '../operation.ts'
import { examine, joined } from './examine.ts'
import { Findings, FindingsQuery } from './schemas.ts'

/** The health of a process and of everything that it needs. */
export const DOCTOR_OPERATIONS = [
  operation({
    name: 'examine',
    http: 'GET /v1/doctor',
    right: 'system.read',
    summary: 'Check the machine, the log, the tables and all other parts, and say what to do',
    input: { query: FindingsQuery },
    output: Findings,
    answers: { 200: 'What was found' },
    run: async (s, { query }) => {
      const machine = query.machine === 'true' ? await s.machine() : []
      return { findings: joined(machine, await examine(s)) }
    },
  }),
] as const
