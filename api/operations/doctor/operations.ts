import { operation } from '../operation.ts'
import { examine, examineMachine, joined } from './examine.ts'
import { Findings, FindingsQuery } from './schemas.ts'
import { shared } from './shared.ts'

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
    run: (s, { query }, { options }) => {
      const rights = options.identity?.rights ?? null
      return shared(s, rights, query.machine, async () => {
        const machine = query.machine === 'true' ? await examineMachine(s, rights) : []
        return { findings: joined(machine, await examine(s, rights)) }
      })
    },
  }),
] as const
