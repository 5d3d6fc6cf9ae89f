import { externalContract } from '../contracts/projections/external.ts'
import { sqliteKit } from '../support/projections/kit.ts'

externalContract(sqliteKit)
