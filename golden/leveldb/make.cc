// Filters of LevelDB's own policy, with the answers it gives.
//   g++ -std=c++17 make.cc -o make -lleveldb && ./make        Debian's libleveldb-dev 1.23
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using leveldb::Slice;

static std::string hex(const std::string& bytes) {
  std::string digits;
  char two[3];
  for (unsigned char byte : bytes) {
    std::snprintf(two, sizeof two, "%02x", byte);
    digits += two;
  }
  return digits;
}

static void make(std::ofstream& manifest, const std::string& name, int bits_per_key,
                 const std::vector<std::string>& keys, const std::vector<std::string>& asked) {
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(bits_per_key);
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::string filter;
  policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  std::ofstream(name + ".filter", std::ios::binary) << filter;
  std::ofstream inserted(name + ".inserted.txt"), probe(name + ".probe.txt");
  for (const std::string& key : keys) inserted << hex(key) << "\n";
  int found = 0;
  for (const std::string& key : asked) {
    const bool answer = policy->KeyMayMatch(key, filter);
    found += answer;
    probe << answer << "\t" << hex(key) << "\n";
  }
  manifest << name << "\t" << bits_per_key << "\t" << keys.size() << "\t" << found << "\n";
  delete policy;
}

int main() {
  std::ofstream manifest("manifest.tsv");
  manifest << "name\tbits_per_key\tkeys\tprobeTrue\n";
  std::vector<std::string> keys, asked;
  for (int i = 0; i < 400; i++) keys.push_back("user:" + std::to_string(i));
  for (int i = 0; i < 1200; i++) asked.push_back("user:" + std::to_string(i));
  make(manifest, "users_400_10", 10, keys, asked);
  make(manifest, "users_400_1", 1, keys, asked);
  make(manifest, "users_400_100", 100, keys, asked);
  make(manifest, "bytes_3_10", 10, {std::string(1, '\xff'), std::string("\x80\x81\x82\xff\xfe\x00\x01", 7), "heron"}, asked);
  make(manifest, "none_10", 10, {}, {"a", "heron"});
}
