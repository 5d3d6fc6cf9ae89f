import { dueContract } from '../contracts/projections/due.ts'
import { sqliteKit } from '../support/projections/kit.ts'

dueContract(sqliteKit)
