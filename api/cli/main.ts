import { openServices } from '../process/open-services.ts'
import { runHere } from './run-program.ts'

await runHere(openServices)
