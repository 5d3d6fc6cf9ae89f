import { projectorContract } from '../contracts/projections/projector.ts'
import { sqliteKit } from '../support/projections/kit.ts'

projectorContract(sqliteKit)
