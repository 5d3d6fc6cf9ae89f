import { storeContract } from '../contracts/projections/store.ts'
import { sqliteKit } from '../support/projections/kit.ts'

storeContract(sqliteKit)
