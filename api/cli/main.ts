import { openServices } from '../keepup.ts'
import { runHere } from './here.ts'

await runHere(openServices)
