import { stateContract } from '../contracts/projections/state.ts'
import { sqliteKit } from '../support/projections/kit.ts'

stateContract(sqliteKit)
