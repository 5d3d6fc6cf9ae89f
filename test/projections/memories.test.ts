import { memoriesContract } from '../contracts/projections/memories.ts'
import { sqliteKit } from '../support/projections/kit.ts'

memoriesContract(sqliteKit)
