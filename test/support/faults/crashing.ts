import { runHere } from '../../../api/cli/run-program.ts'
import { openServices } from '../../../api/process/open-services.ts'
import type { OpenServices } from '../../../api/process/owner/connect.ts'
import { crashPoint } from './crash-point.ts'

// The unchanged program, except that it kills itself at the point in its environment.

const at = crashPoint(process.env)
delete process.env.KEEPUP_CRASH_AT
// The caller knows the mode; the overloads are those of the wrapped function.
const open = ((config, mode, how, own) =>
  openServices(config, mode as 'owner', how, { ...own, ...(at && { crashPoint: at }) })) as OpenServices
await runHere(open)
