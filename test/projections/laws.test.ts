import { lawsContract } from '../contracts/projections/laws.ts'
import { sqliteKit } from '../support/projections/kit.ts'

lawsContract(sqliteKit)
