import { checkpointsContract } from '../contracts/projections/checkpoints.ts'
import { sqliteKit } from '../support/projections/kit.ts'

checkpointsContract(sqliteKit)
