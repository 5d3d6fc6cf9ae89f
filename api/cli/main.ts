import { openServices } from '../open-services.ts'
import { runHere } from './here.ts'

await runHere(openServices)
