import { runCli } from '../../api/cli/program.ts'
import { addOperations } from '../../api/operations/table.ts'
import { openServices } from '../../api/process/open-services.ts'
import { addKind } from '../../domain/kinds.ts'
import { addProjection } from '../../projections/kinds.ts'
import { ticket } from './ticket/kind.ts'
import { TICKET_OPERATIONS } from './ticket/operations.ts'
import { ticketRows } from './ticket/projection.ts'

// keepup with one more kind of stream, in a process of its own, because other tests share their registries. In the
// product, each of these three lines is an entry of the same registry.
addKind(ticket)
addProjection(ticketRows)
addOperations(TICKET_OPERATIONS)

/** What a command line has printed. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

// Runs the command lines of the first argument (JSON), one after the other, and prints their results as JSON.
const [, , lines = '[]'] = process.argv
const ran: Ran[] = []
for (const args of JSON.parse(lines) as string[][]) {
  const [out, err]: [string[], string[]] = [[], []]
  const io = { stdin: process.stdin, env: process.env, cwd: process.cwd(), open: openServices, program: 'keepup' }
  const streams = { stdout: { write: (s: string) => out.push(s) }, stderr: { write: (s: string) => err.push(s) } }
  const code = await runCli(args, { ...io, ...streams })
  ran.push({ code, out: out.join(''), err: err.join('') })
}
console.log(JSON.stringify(ran))
