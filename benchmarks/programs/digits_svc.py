"""Recognize handwritten digits with a support vector machine."""

from sklearn import datasets, metrics, svm
from sklearn.model_selection import train_test_split

digits = datasets.load_digits()
data = digits.images.reshape((len(digits.images), -1))
classifier = svm.SVC(gamma=0.001)
X_train, X_test, y_train, y_test = train_test_split(
    data, digits.target, test_size=0.5, shuffle=False
)
classifier.fit(X_train, y_train)
predicted = classifier.predict(X_test)
confusion = metrics.confusion_matrix(y_test, predicted)
print(f"accuracy: {metrics.accuracy_score(y_test, predicted):.6f}")
print(f"macro f1: {metrics.f1_score(y_test, predicted, average='macro'):.6f}")
# at tol=0.001 a solver may stop with a few more or fewer: there are 522 at tol=1e-6
print(f"support vectors: {classifier.n_support_.sum()} +- 5")
print(f"confused with 8: {confusion[:, 8].sum() - confusion[8, 8]}")
margins = classifier.decision_function(X_test)
print(f"scores: {margins.shape[1]}")
print(f"sure: {(margins.max(axis=1) > 9.3).mean():.4f}")
