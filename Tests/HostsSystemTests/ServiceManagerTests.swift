import HostsModel
import HostsSystem
import Testing
